/** The fields of a protected resource, and the first tab of its page. */
import {
  accessTokenFormats,
  MAX_IDENTIFIER,
  MAX_LIFETIME_SECONDS,
  MIN_LIFETIME_SECONDS,
  type ResourceWithScopes,
  senderConstraints,
} from "../../../core/protected-resources/protected-resource.ts";
import { findResourceUses } from "../../../core/protected-resources/resource-uses.store.ts";
import type { CustomScope } from "../../../core/scopes/custom-scope.ts";
import { applicationLinks } from "../../../html/components/application-links.ts";
import { badge } from "../../../html/components/badge.ts";
import { card, facts } from "../../../html/components/card.ts";
import { copyField } from "../../../html/components/copy-field.ts";
import { radioField, selectField, textField } from "../../../html/components/fields.ts";
import { fieldsOf } from "../../../html/components/form-page.ts";
import type { FormView } from "../../../html/components/form-state.ts";
import { nameCell, table } from "../../../html/components/table.ts";
import { type Content, type Html, html } from "../../../html/html.ts";
import type { ConsoleDeps } from "../../../page-kit/page.ts";
import type { RecordView } from "../../../page-kit/record-pages.ts";
import {
  applicationField,
  enabledField,
  lifetimeField,
  lifetimeWords,
  type NamedApplication,
  scopesField,
} from "../plain-records/fields.ts";
import { type ResourceInput, resourceLabels } from "./resource-input.ts";

export interface ResourceChoices {
  readonly scopes: readonly CustomScope[];
  readonly applications: readonly NamedApplication[] | undefined;
}

const algorithms = ["ES256", "RS256", "PS256", "EdDSA"];

export function resourceFields(
  form: FormView<ResourceInput>,
  { scopes, applications }: ResourceChoices,
  before: ResourceWithScopes | undefined,
): Content {
  const { resources: text } = form.messages.console;
  const { fields } = text;
  const field = fieldsOf(form, resourceLabels(form.messages));
  const isFirst = form.state.faults === undefined && before === undefined;
  // A scope belongs to one resource.
  const free = scopes.filter(({ resourceId }) => resourceId === null || resourceId === before?.id);
  return [
    textField({ ...(isFirst && { hasFocus: true }), ...field("name"), maxLength: 100, isRequired: true }),
    textField({
      ...{ ...field("identifier"), hint: fields.identifier.hint, maxLength: MAX_IDENTIFIER },
      ...{ type: "url", isRequired: true, isCode: true },
    }),
    scopesField({ ...field("scopes"), hint: fields.scopes.hint, scopes: free }),
    radioField({
      ...field("accessTokenFormat"),
      choices: accessTokenFormats.map((value) => ({
        ...{ value, label: text.formats[value], text: text.formatHints[value] },
      })),
    }),
    lifetimeField({
      ...{ ...field("accessTokenLifetimeSeconds"), hint: fields.accessTokenLifetimeSeconds.hint },
      ...{ range: [MIN_LIFETIME_SECONDS, MAX_LIFETIME_SECONDS], isOptional: true },
    }),
    selectField({
      ...{ ...field("accessTokenSignedResponseAlg") },
      choices: [
        { value: "", label: text.asApplication },
        ...algorithms.map((value) => ({ value, label: value })),
      ],
    }),
    selectField({
      ...{ ...field("senderConstraint"), hint: fields.senderConstraint.hint },
      choices: senderConstraints.map((value) => ({ value, label: text.constraints[value] })),
    }),
    scopesField({ ...field("agentDeniedScopes"), hint: fields.agentDeniedScopes.hint, scopes }),
    applicationField({
      ...{ ...field("applicationId"), hint: fields.applicationId.hint, applications },
      none: text.noApplication,
    }),
    enabledField(field("enabled")),
  ];
}

type View = RecordView<ResourceWithScopes>;

/** Of an application's page more are found by its search. */
const MAX_USES = 20;

export async function resourceGeneral({ database }: ConsoleDeps, view: View): Promise<Content> {
  const uses = await findResourceUses(database.query, view.record, MAX_USES);
  const { resources: text } = view.messages.console;
  const others = uses.count - uses.first.length;
  const more =
    others > 0 && html`<li class="quiet">${view.messages.console.scopes.others({ count: others })}</li>`;
  return [
    tokensCard(view),
    scopesCard(view),
    card({
      ...{ id: "resource-uses", title: text.uses, text: text.usesText },
      body:
        uses.count === 0
          ? html`<p class="quiet">${text.unused}</p>
`
          : applicationLinks(uses.first, view.consoleUri, more),
    }),
  ];
}

function tokensCard({ record, messages }: View): Html {
  const { resources: text, frame } = messages.console;
  const { fields } = text;
  const { accessTokenLifetimeSeconds: lifetime } = record;
  const copied = { ...frame.secret, id: "resource-identifier", value: record.identifier };
  return card({
    ...{ id: "resource-tokens", title: text.tokens },
    body: facts([
      { label: fields.identifier.label, content: copyField({ ...copied, label: fields.identifier.label }) },
      { label: fields.accessTokenFormat.label, content: text.formats[record.accessTokenFormat] },
      {
        label: fields.accessTokenLifetimeSeconds.label,
        content: lifetime === null ? text.asApplication : lifetimeWords(lifetime, messages),
      },
      {
        label: fields.accessTokenSignedResponseAlg.label,
        content: record.accessTokenAlg ?? text.asApplication,
      },
      { label: fields.senderConstraint.label, content: text.constraints[record.senderConstraint] },
    ]),
  });
}

function scopesCard({ record, messages, consoleUri }: View): Html {
  const { resources: text, scopes } = messages.console;
  const denied = new Set(record.agentDeniedScopes);
  return card({
    ...{ id: "resource-scopes", title: text.fields.scopes.label, text: text.scopesText },
    body: table({
      label: text.fields.scopes.label,
      columns: [scopes.columns.name, scopes.columns.shown, text.agents],
      rows: record.scopes.map(({ id, name, displayName, sensitive }) => ({
        id: `scope-${id}`,
        cells: [
          nameCell({ name, uri: consoleUri(`/scopes/${id}`) }),
          html`<bdi>${displayName}</bdi>${sensitive && html` ${badge("warn", scopes.sensitive)}`}`,
          denied.has(name) ? badge("bad", text.denied) : text.allowed,
        ],
      })),
      ...{ none: text.noScopes, messages },
    }),
  });
}
