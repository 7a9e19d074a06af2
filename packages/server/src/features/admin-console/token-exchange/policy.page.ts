/** The fields of a token exchange policy, and the first tab of its page. */

import type { CustomScope } from "../../../core/scopes/custom-scope.ts";
import { standardScopes } from "../../../core/scopes/scopes.ts";
import { type ExchangePolicy, LIFETIME_RANGE } from "../../../core/token-exchange/exchange-policy.ts";
import { applicationLinks } from "../../../html/components/application-links.ts";
import { card, facts } from "../../../html/components/card.ts";
import { checkField, textArea, textField } from "../../../html/components/fields.ts";
import { fieldsOf } from "../../../html/components/form-page.ts";
import type { FormView } from "../../../html/components/form-state.ts";
import { type Content, html } from "../../../html/html.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import type { RecordView } from "../../../page-kit/record-pages.ts";
import {
  applicationField,
  enabledField,
  lifetimeField,
  lifetimeWords,
  type NamedApplication,
  scopesField,
  yesOrNo,
} from "../plain-records/fields.ts";
import { claimNames } from "../scopes/scopes.page.ts";
import type { PolicyInput } from "./policy-input.ts";

export interface PolicyChoices {
  readonly applications: readonly NamedApplication[] | undefined;
  readonly scopes: readonly CustomScope[];
}

export function policyLabels({ console: { tokenExchange, plainRecords } }: Messages): Record<string, string> {
  const { fields } = tokenExchange;
  return {
    ...{ name: plainRecords.name, enabled: plainRecords.enabled.label, clientId: fields.clientId.label },
    ...{ subjectClientIds: fields.subjectClientIds.label, target: fields.target.label },
    ...{ foreignClientId: fields.foreignClientId.label, scopes: fields.scopes.label },
    ...{ impersonation: fields.impersonation.label, maxLifetimeSeconds: fields.maxLifetimeSeconds.label },
  };
}

/** What a policy gives of the standard scopes. */
const offered = standardScopes.filter((name) => name !== "offline_access");

export function policyFields(
  form: FormView<PolicyInput>,
  { applications, scopes }: PolicyChoices,
  before: ExchangePolicy | undefined,
): Content {
  const { fields } = form.messages.console.tokenExchange;
  const isOurs = form.input.requestedTokenType === "access_token";
  const field = fieldsOf(form, policyLabels(form.messages));
  const { value: isChecked, ...impersonation } = field("impersonation");
  const { value: chosen, ...scopesOf } = field("scopes");
  const isFirst = form.state.faults === undefined && before === undefined;
  return [
    textField({ ...(isFirst && { hasFocus: true }), ...field("name"), maxLength: 100, isRequired: true }),
    applicationField({ ...field("clientId"), hint: fields.clientId.hint, applications }),
    textField({
      ...{ ...field("target"), hint: isOurs ? fields.target.hint : fields.target.hintAssertion },
      ...{ maxLength: 2_048, isCode: true, isRequired: true },
    }),
    isOurs
      ? scopesField({ ...scopesOf, value: chosen, hint: fields.scopes.hint, scopes, standard: offered })
      : textArea({
          ...{ ...scopesOf, value: chosen.join("\n"), hint: fields.scopes.hintAssertion },
          ...{ rows: 3, isCode: true },
        }),
    !isOurs &&
      textField({
        ...{ ...field("foreignClientId"), hint: fields.foreignClientId.hint, maxLength: 2_048 },
        ...{ isCode: true, isOptional: true },
      }),
    textArea({
      ...{ ...field("subjectClientIds"), hint: fields.subjectClientIds.hint, rows: 2 },
      ...{ isCode: true, isOptional: true },
    }),
    isOurs && checkField({ ...impersonation, hint: fields.impersonation.hint, isChecked }),
    isOurs && lifetimeField({ ...{ ...field("maxLifetimeSeconds"), range: LIFETIME_RANGE } }),
    enabledField(field("enabled")),
  ];
}

export function policyGeneral(
  { record, messages, consoleUri }: RecordView<ExchangePolicy>,
  clients: readonly NamedApplication[],
): Content {
  const { tokenExchange: text } = messages.console;
  const { fields } = text;
  const named = (ids: readonly string[]) => {
    const found = clients.filter(({ id }) => ids.includes(id));
    return found.length > 0 && applicationLinks(found, consoleUri);
  };
  const isOurs = record.requestedTokenType === "access_token";
  return card({
    ...{ id: "policy-details", title: text.details, text: text.types[record.requestedTokenType] },
    body: facts([
      { label: fields.clientId.label, content: named([record.clientId]) },
      { label: fields.target.label, content: html`<code>${record.target}</code>` },
      { label: fields.scopes.label, content: claimNames(record.scopes, "") },
      { label: fields.subjectClientIds.label, content: named(record.subjectClientIds) || text.anySubject },
      {
        label: fields.foreignClientId.label,
        content: record.foreignClientId !== null && html`<code>${record.foreignClientId}</code>`,
      },
      { label: fields.impersonation.label, content: isOurs && yesOrNo(record.impersonation, messages) },
      {
        label: fields.maxLifetimeSeconds.label,
        content: isOurs && lifetimeWords(record.maxLifetimeSeconds, messages),
      },
    ]),
  });
}
