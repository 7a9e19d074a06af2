/** The parts of a scope's page, by its tabs, and its form. */
import type { CustomScope } from "../../../core/scopes/custom-scope.ts";
import { type CountedUses, type UseType, useTypes } from "../../../core/scopes/scope-uses.store.ts";
import { applicationLinks } from "../../../html/components/application-links.ts";
import { badge } from "../../../html/components/badge.ts";
import { buttonLink } from "../../../html/components/button.ts";
import { card, facts } from "../../../html/components/card.ts";
import type { ConsoleFrame } from "../../../html/components/console-layout.ts";
import {
  type Choice,
  checkField,
  defaultSubmit,
  selectField,
  textArea,
  textField,
} from "../../../html/components/fields.ts";
import { fieldsOf, formPage } from "../../../html/components/form-page.ts";
import { type FormView, fieldState } from "../../../html/components/form-state.ts";
import { recordIcon } from "../../../html/components/record-heading.ts";
import { nameCell, table } from "../../../html/components/table.ts";
import { type Content, type Html, html, linkAddress } from "../../../html/html.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import type { RecordParts, RecordView } from "../../../page-kit/record-pages.ts";
import { claimFieldId, claimOrigins, displayOrigin, type ScopeInput, toScopeInput } from "./scope-input.ts";

type Text = Messages["console"]["scopes"];

type ScopeView = RecordView<CustomScope>;

/** What stands above every tab. */
export function aboveScope({ record: scope, uriOf, messages }: ScopeView): RecordParts {
  const { scopes: text } = messages.console;
  const remove = { id: "scope-delete", uri: uriOf("/delete"), label: text.deleteScope };
  return {
    head: {
      name: scope.name,
      mark: recordIcon("scope"),
      facts: [scope.sensitive && badge("warn", text.sensitive), html`<bdi>${scope.displayName}</bdi>`],
      id: { id: "scope-name", value: scope.name, label: text.name },
    },
    actions: buttonLink({ id: "scope-edit", uri: uriOf("/edit"), label: text.edit }),
    more: [{ ...remove, isQuestion: true, isDangerous: true }],
    done: text.done,
  };
}

/** @param resource that it belongs to */
export function scopeGeneral(
  { record: scope, messages, consoleUri }: ScopeView,
  resource: { readonly id: string; readonly name: string } | undefined,
): Html {
  const { frame, scopes: text } = messages.console;
  const { claims } = toScopeInput(scope);
  return card({
    id: "scope-details",
    title: text.details,
    body: [
      facts([
        { label: text.displayName, content: html`<bdi>${scope.displayName}</bdi>` },
        {
          label: text.description,
          content: scope.description !== "" && html`<bdi>${scope.description}</bdi>`,
        },
        { label: text.sensitive, content: scope.sensitive ? badge("warn", frame.yes) : frame.no },
        {
          label: text.resource,
          content:
            resource &&
            html`<a id="scope-resource" href="${linkAddress(consoleUri(`/resources/${resource.id}`))}"><bdi>${resource.name}</bdi></a>`,
        },
      ]),
      claims.length === 0
        ? html`<p class="quiet">${text.noClaims}</p>`
        : table({
            label: text.claims,
            columns: [text.claimName, text.claimFrom],
            rows: claims.map((claim, index) => ({
              id: `claim-${index}`,
              cells: [nameCell({ name: claim.name }), html`<bdi>${displayOrigin(claim, text)}</bdi>`],
            })),
            messages,
          }),
    ],
  });
}

export const MAX_NAMED = 10;

type Uses = {
  readonly uses: CountedUses;
  readonly consoleUri: ConsoleFrame["consoleUri"];
  readonly text: Text;
};

const types = {
  application: "applications",
  consent: "consents",
  preauthorization: "preauthorizations",
} as const;

/** What of the applications, consents and pre-authorizations uses it: each a list of the first, and how many there are. */
export function scopeUseCards({ consoleUri, messages }: ScopeView, uses: CountedUses): Content {
  const { scopes: text } = messages.console;
  const of = (type: UseType) => usesOf(type, { uses, consoleUri, text });
  return [
    card({ id: "scope-used", title: text.used, text: text.usedText, body: of("application") }),
    card({
      id: "scope-consents",
      title: text.uses.consents,
      text: text.uses.consentsText,
      body: of("consent"),
    }),
    card({ id: "scope-preauthorizations", title: text.uses.preauthorizations, body: of("preauthorization") }),
  ];
}

function usesOf(type: UseType, { uses, consoleUri, text }: Uses): Html {
  const { first, count } = uses[type];
  if (count === 0)
    return html`<p class="quiet">${type === "application" ? text.unused : text.uses.none}</p>
`;
  const others = count - first.length;
  const more = others > 0 && html`<li class="quiet">${text.others({ count: others })}</li>`;
  if (type === "application") return applicationLinks(first, consoleUri, more);
  return html`<ul class="plain-list">${first.map(({ name }) => html`<li><bdi>${name}</bdi></li>`)}${more}</ul>
`;
}

/** Of the question before it is deleted: who loses it. */
export function losingUses(view: Uses): Content {
  const used = useTypes.filter((type) => view.uses[type].count > 0);
  if (used.length === 0) return html`<p>${view.text.uses.nobody}</p>`;
  return [
    html`<p>${view.text.uses.losing}</p>
`,
    ...used.map(
      (type) => html`<p><b>${view.text.uses[types[type]]}</b> (${view.uses[type].count})</p>
${usesOf(type, view)}`,
    ),
  ];
}

/** Of ticked scopes, beside the name of each: the applications that lose it, and how many consents. */
export function usesInBrief({ application, consent }: CountedUses, text: Text): string {
  const names = application.first.slice(0, MAX_BRIEF).map(({ name }) => name);
  const others = application.count - names.length;
  const parts = [
    ...names,
    ...(others > 0 ? [text.others({ count: others })] : []),
    ...(consent.count > 0 ? [text.uses.consentCount({ count: consent.count })] : []),
  ];
  return parts.join(", ");
}

const MAX_BRIEF = 3;

/** @param before undefined for a new scope */
/** @param resources that it can belong to; none where the organisation has none */
export function scopeFormPage(
  view: FormView<ScopeInput>,
  resources: readonly Choice[],
  before?: Pick<CustomScope, "id" | "name">,
): Html {
  const { frame, scopes: text } = view.messages.console;
  const backUri = view.consoleUri(before ? `/scopes/${before.id}` : "/scopes");
  return formPage({
    ...view,
    title: before ? text.editTitle({ name: before.name }) : text.makeTitle,
    breadcrumbs: [
      { label: frame.pages.scopes, uri: view.consoleUri("/scopes") },
      ...(before ? [{ label: before.name, uri: backUri }] : []),
    ],
    id: "scope-form",
    labels: fieldLabels(view.input, text),
    fields: [
      defaultSubmit,
      textFields(view, before === undefined),
      resources.length > 0 &&
        selectField({
          ...{ ...fieldsOf(view, { resourceId: text.resource })("resourceId"), hint: text.resourceHint },
          choices: resources,
        }),
      claimFields(view),
    ],
    submit: { id: "scope-save", label: before ? text.save : text.create },
    cancelUri: backUri,
  });
}

/** Fields of claims are named by their row. */
function fieldLabels({ claims }: ScopeInput, text: Text): Record<string, string> {
  const { name, displayName, description, resource: resourceId } = text;
  const ofClaims = claims.flatMap((_, row) => {
    const claim = text.claim({ count: row + 1 });
    const labels = { name: text.claimName, from: text.claimFrom, what: text.claimWhat };
    const fields = ["name", "from", "what"] as const;
    return fields.map((field) => [claimFieldId(row, field), `${claim}: ${labels[field]}`]);
  });
  return { name, displayName, description, resourceId, ...Object.fromEntries(ofClaims) };
}

function textFields(view: FormView<ScopeInput>, isNew: boolean): Content {
  const { scopes: text } = view.messages.console;
  const field = fieldsOf(view, text);
  return [
    isNew &&
      textField({ ...field("name"), hint: text.nameHint, maxLength: 100, isRequired: true, isCode: true }),
    textField({ ...field("displayName"), hint: text.displayNameHint, maxLength: 100, isRequired: true }),
    textArea({
      ...field("description"),
      hint: text.descriptionHint,
      rows: 2,
      maxLength: 500,
      isOptional: true,
    }),
    checkField({ ...field("sensitive"), hint: text.sensitiveHint, isChecked: view.input.sensitive }),
  ];
}

function claimFields({ input, state: form, messages }: FormView<ScopeInput>): Html {
  const { frame, scopes: text } = messages.console;
  const { isNow } = fieldState(form, "claims");
  const origins: Readonly<Record<string, string>> = text.origins;
  const choices = claimOrigins.map((value) => ({ value, label: origins[value] ?? value }));
  const row = (claim: ScopeInput["claims"][number], index: number): Html => {
    const field = (name: keyof typeof claim, label: string) => {
      const id = claimFieldId(index, name);
      return { id, label, value: claim[name], ...fieldState(form, id), messages };
    };
    return html`<fieldset class="field-triple" id="claim-${index}"><legend class="visually-hidden">${text.claim({ count: index + 1 })}</legend>
${textField({ ...field("name", text.claimName), maxLength: 100, isCode: true })}${selectField({
  ...field("from", text.claimFrom),
  choices,
})}${textField({ ...field("what", text.claimWhat), maxLength: 2_000, isCode: true })}</fieldset>
`;
  };
  return html`<fieldset class="claim-rows" id="claims" aria-describedby="claims-hint claims-what-hint"><legend>${text.claims}</legend>
<p class="field-hint" id="claims-hint">${text.claimsHint}</p>
<p class="field-hint" id="claims-what-hint">${text.claimWhatHint}</p>
${isNow !== undefined && html`<p class="is-now" id="claims-now">${isNow === "" ? frame.form.isNowEmpty : frame.form.isNow({ value: isNow })}</p>`}
${input.claims.map(row)}
<button class="button" id="claim-add" name="add" value="1" type="submit">${text.addClaim}</button></fieldset>
`;
}
