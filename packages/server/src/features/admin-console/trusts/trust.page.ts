/** The fields of a trust, and the first tab of its page. */
import type { Connection } from "../../../core/connections/connection.ts";
import { MAX_PATTERN } from "../../../core/trusts/subject-pattern.ts";
import { LIFETIME_RANGE, type Trust, trustUserBy } from "../../../core/trusts/trust.ts";
import { card, facts } from "../../../html/components/card.ts";
import { copyField } from "../../../html/components/copy-field.ts";
import { checkField, selectField, textArea, textField } from "../../../html/components/fields.ts";
import { fieldsOf } from "../../../html/components/form-page.ts";
import type { FormView } from "../../../html/components/form-state.ts";
import { type Content, type Html, html, linkAddress } from "../../../html/html.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import type { RecordView } from "../../../page-kit/record-pages.ts";
import {
  applicationField,
  enabledField,
  lifetimeField,
  lifetimeWords,
  type NamedApplication,
  yesOrNo,
} from "../plain-records/fields.ts";
import { type TrustInput, toTrustInput } from "./trust-input.ts";

export interface TrustChoices {
  readonly applications: readonly NamedApplication[] | undefined;
  readonly connections: ReadonlyArray<Pick<Connection, "id" | "name">>;
}

const FIELDS = [
  ...["clientId", "issuer", "subjectPattern", "claims", "audience", "jwksUri", "jwks", "maxLifetimeSeconds"],
  ...["singleUse", "connectionId", "userBy"],
] as const;

export function trustLabels({ console: { trusts, plainRecords } }: Messages): Record<string, string> {
  const { fields } = trusts as { fields: Readonly<Record<string, { readonly label: string }>> };
  return {
    ...Object.fromEntries(FIELDS.map((id) => [id, fields[id]?.label ?? id])),
    enabled: plainRecords.enabled.label,
  };
}

export function trustFields(form: FormView<TrustInput>, choices: TrustChoices): Content {
  const { trusts: text } = form.messages.console;
  const { fields } = text;
  const { kind } = form.input;
  const field = fieldsOf(form, trustLabels(form.messages));
  const { value: isSingleUse, ...singleUse } = field("singleUse");
  return [
    kind !== "software_statement" &&
      applicationField({
        ...{ ...field("clientId"), applications: choices.applications },
        hint: kind === "workload" ? fields.clientId.hint : fields.clientId.hintAssertion,
        ...(kind === "id_jag" && { none: text.anyClient }),
      }),
    textField({
      ...{ ...field("issuer"), hint: fields.issuer.hint, maxLength: 2_048 },
      ...{ type: "url", isCode: true, isRequired: true },
    }),
    textField({
      ...{ ...field("subjectPattern"), hint: fields.subjectPattern.hint, maxLength: MAX_PATTERN },
      ...{ isCode: true, isRequired: kind === "workload", isOptional: kind !== "workload" },
    }),
    textArea({
      ...{ ...field("claims"), hint: fields.claims.hint, rows: 3, isCode: true, isOptional: true },
    }),
    kind === "id_jag" && userFields(form, choices),
    textField({
      ...{ ...field("jwksUri"), hint: fields.jwksUri.hint, maxLength: 2_048 },
      ...{ type: "url", isCode: true, isOptional: true },
    }),
    textArea({ ...{ ...field("jwks"), hint: fields.jwks.hint, rows: 3, isCode: true, isOptional: true } }),
    kind !== "id_jag" &&
      textField({
        ...{ ...field("audience"), hint: fields.audience.hint, maxLength: 2_048 },
        ...{ isCode: true, isOptional: true },
      }),
    lifetimeField({
      ...{ ...field("maxLifetimeSeconds"), hint: fields.maxLifetimeSeconds.hint, range: LIFETIME_RANGE },
    }),
    checkField({ ...singleUse, hint: fields.singleUse.hint, isChecked: isSingleUse }),
    enabledField(field("enabled")),
  ];
}

function userFields(form: FormView<TrustInput>, { connections }: TrustChoices): Content {
  const { trusts: text } = form.messages.console;
  const field = fieldsOf(form, trustLabels(form.messages));
  return [
    selectField({
      ...{ ...field("userBy"), hint: text.fields.userBy.hint },
      choices: trustUserBy.map((value) => ({ value, label: text.userBy[value] })),
    }),
    selectField({
      ...{ ...field("connectionId"), hint: text.fields.connectionId.hint },
      choices: [
        { value: "", label: text.noConnection },
        ...connections.map(({ id, name }) => ({ value: id, label: name })),
      ],
    }),
  ];
}

/** What it accepts, and how a token for it is asked for. */
export const trustGeneral = (
  view: RecordView<Trust>,
  { issuer, client }: { readonly issuer: string; readonly client: NamedApplication | undefined },
): Content => [acceptedCard(view, issuer, client), keysCard(view)];

function acceptedCard(
  { record, messages, consoleUri }: RecordView<Trust>,
  own: string,
  client: NamedApplication | undefined,
): Html {
  const { trusts: text, frame } = messages.console;
  const { fields } = text;
  const { claims } = toTrustInput(record);
  const audience = record.audience ?? own;
  return card({
    ...{ id: "trust-accepted", title: text.accepted, text: text.kinds[record.kind] },
    body: facts([
      { label: fields.issuer.label, content: html`<code>${record.issuer}</code>` },
      {
        label: fields.subjectPattern.label,
        content: record.subjectPattern !== null && html`<code>${record.subjectPattern}</code>`,
      },
      { label: fields.claims.label, content: claims !== "" && html`<code>${claims}</code>` },
      {
        label: fields.audience.label,
        content: copyField({
          ...{ ...frame.secret, id: "trust-audience", value: audience, label: fields.audience.label },
        }),
      },
      {
        label: fields.clientId.label,
        content:
          client &&
          html`<a href="${linkAddress(consoleUri(`/applications/${client.id}`))}"><bdi>${client.name}</bdi></a>`,
      },
    ]),
  });
}

function keysCard({ record, messages }: RecordView<Trust>): Html {
  const { trusts: text } = messages.console;
  const { fields } = text;
  return card({
    ...{ id: "trust-keys", title: text.keys },
    body: facts([
      {
        label: fields.jwks.label,
        content:
          record.jwks === null
            ? record.jwksUri === null
              ? text.byDiscovery
              : html`<code>${record.jwksUri}</code>`
            : text.keyCount({ count: record.jwks.keys.length }),
      },
      {
        label: fields.maxLifetimeSeconds.label,
        content: lifetimeWords(record.maxLifetimeSeconds, messages),
      },
      { label: fields.singleUse.label, content: yesOrNo(record.singleUse, messages) },
    ]),
  });
}
