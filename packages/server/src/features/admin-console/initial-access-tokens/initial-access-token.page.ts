/** The fields of an initial access token, the first tab of its page, and the page that shows a new one. */
import type { InitialAccessToken } from "../../../core/client-registration/initial-access-token.ts";
import type { CustomScope } from "../../../core/scopes/custom-scope.ts";
import { standardScopes } from "../../../core/scopes/scopes.ts";
import { shownOncePage } from "../../../html/components/act.page.ts";
import { badge } from "../../../html/components/badge.ts";
import { card, facts } from "../../../html/components/card.ts";
import type { ConsoleFrame, ConsoleView } from "../../../html/components/console-layout.ts";
import { copyField } from "../../../html/components/copy-field.ts";
import { checkList, textArea, textField } from "../../../html/components/fields.ts";
import { fieldsOf } from "../../../html/components/form-page.ts";
import type { FormView } from "../../../html/components/form-state.ts";
import { relativeTime } from "../../../html/components/relative-time.ts";
import { type Content, type Html, html } from "../../../html/html.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import type { RecordView } from "../../../page-kit/record-pages.ts";
import { toGrantName } from "../applications/setting-fields.ts";
import { enabledField, lifetimeField, scopesField } from "../plain-records/fields.ts";
import type { ShownOnce } from "../plain-records/plain-record.ts";
import { grantChoices, grantWords, LIFETIME_RANGE, type ShownToken, type TokenInput } from "./token-input.ts";

export interface TokenChoices {
  readonly scopes: readonly CustomScope[];
}

export const tokenName = (
  { label }: Pick<InitialAccessToken, "label">,
  { console: { initialAccessTokens } }: Messages,
): string => (label === "" ? initialAccessTokens.unnamed : label);

export function tokenLabels({ console: { initialAccessTokens, plainRecords } }: Messages) {
  const { fields } = initialAccessTokens;
  return {
    ...{ label: fields.label.label, maxUses: fields.maxUses.label, expiresAt: fields.expiresAt.label },
    ...{ allowedScopes: fields.allowedScopes.label, allowedResources: fields.allowedResources.label },
    ...{ grantTypes: fields.grantTypes.label, enabled: plainRecords.enabled.label },
  };
}

export function tokenFields(
  form: FormView<TokenInput>,
  { scopes }: TokenChoices,
  before: InitialAccessToken | undefined,
): Content {
  const { fields } = form.messages.console.initialAccessTokens;
  const field = fieldsOf(form, tokenLabels(form.messages));
  const isFirst = form.state.faults === undefined && before === undefined;
  const { value: grants, ...grantField } = field("grantTypes");
  return [
    textField({
      ...{ ...field("label"), hint: fields.label.hint, maxLength: 100, isOptional: true },
      ...(isFirst && { hasFocus: true }),
    }),
    textField({
      ...{ ...field("maxUses"), hint: fields.maxUses.hint, type: "number", min: 1, max: 10_000 },
    }),
    lifetimeField({
      ...{ ...field("expiresAt"), hint: before && fields.expiresAt.hintChange, range: LIFETIME_RANGE },
    }),
    scopesField({
      ...{ ...field("allowedScopes"), hint: fields.allowedScopes.hint, scopes, standard: standardScopes },
    }),
    checkList({ ...grantField, values: grants, choices: grantChoices(form.messages) }),
    textArea({
      ...{ ...field("allowedResources"), hint: fields.allowedResources.hint },
      ...{ rows: 3, isCode: true, isOptional: true },
    }),
    enabledField(field("enabled")),
  ];
}

export function tokenStatus({ state }: ShownToken, { console }: Messages): Content {
  const { plainRecords, initialAccessTokens: text } = console;
  if (state === "active") return badge("good", plainRecords.on);
  return badge("plain", state === "disabled" ? plainRecords.off : text.states[state]);
}

export const tokenUses = ({ uses, maxUses }: ShownToken, { console }: Messages): string =>
  console.initialAccessTokens.usesOf({ number: uses, total: maxUses });

export function tokenGeneral(view: RecordView<ShownToken>, endpoint: string): Content {
  const { record, messages } = view;
  const { initialAccessTokens: text, frame } = messages.console;
  const { fields } = text;
  const codes = (values: readonly string[]) =>
    values.length > 0 &&
    html`<span class="codes-line">${values.map((value) => html`<code>${value}</code> `)}</span>`;
  return card({
    ...{ id: "token-details", title: text.details, text: text.detailsText },
    body: facts([
      {
        label: text.endpoint,
        content: copyField({
          ...{ ...frame.secret, id: "registration-endpoint", value: endpoint, label: text.endpoint },
        }),
      },
      { label: text.registered, content: tokenUses(record, messages) },
      { label: text.expires, content: relativeTime(record.expiresAt, messages.format.minute) },
      { label: fields.allowedScopes.label, content: codes(record.allowedScopes) },
      { label: fields.grantTypes.label, content: grantWords(record.grantTypes.map(toGrantName), messages) },
      { label: fields.allowedResources.label, content: codes(record.allowedResources) },
    ]),
  });
}

export function newTokenPage(
  frame: ConsoleFrame & Pick<ConsoleView, "breadcrumbs">,
  { secret, doneUri, endpoint }: ShownOnce & { readonly endpoint: string },
): Html {
  const { initialAccessTokens: text } = frame.messages.console;
  return shownOncePage({
    ...{ ...frame, title: text.shownTitle, text: text.shownText, doneUri },
    values: [
      { id: "registration-endpoint", title: text.endpoint, lines: endpoint },
      {
        ...{ id: "initial-access-token", title: text.token, lines: secret, isSecret: true },
        variable: "INITIAL_ACCESS_TOKEN",
      },
    ],
  });
}
