import type { CustomScope } from "../../../core/scopes/custom-scope.ts";
import { type ConsoleFrame, consoleLayout } from "../../../html/components/console-layout.ts";
import {
  checkField,
  defaultSubmit,
  selectField,
  textArea,
  textField,
} from "../../../html/components/fields.ts";
import { type FormView, faultsFailure, fieldState } from "../../../html/components/form-state.ts";
import { buttonLink, card, facts, state } from "../../../html/components/parts.ts";
import {
  failureNotice,
  lastChangeLine,
  recordForm,
  successNotice,
} from "../../../html/components/record-form.ts";
import { nameCell, table } from "../../../html/components/table.ts";
import { type Html, html, linkAddress } from "../../../html/html.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { claimFieldId, claimOrigins, displayOrigin, type ScopeInput, toScopeInput } from "./scope-input.ts";

export type Named = { name: string; uri: string };

export type ScopeView = ConsoleFrame & {
  scope: CustomScope;
  usedBy: readonly Named[];
  lastChange: { who: string; at: number } | undefined;
  done: keyof Messages["console"]["scopes"]["done"] | undefined;
};

export function scopePage(view: ScopeView): Html {
  const { scope, messages } = view;
  const { frame, scopes: text } = messages.console;
  const { claims } = toScopeInput(scope);
  return consoleLayout({
    ...view,
    title: scope.name,
    heading: html`<bdi>${scope.name}</bdi>`,
    breadcrumbs: [{ label: frame.pages.scopes, uri: view.consoleUri("/scopes") }],
    actions: [
      buttonLink({
        id: "scope-edit",
        uri: view.consoleUri(`/scopes/${scope.id}/edit`),
        label: text.edit,
        isPrimary: true,
      }),
      buttonLink({
        id: "scope-delete",
        uri: view.consoleUri(`/scopes/${scope.id}/delete`),
        label: text.deleteScope,
        isDangerous: true,
      }),
    ],
    notice: view.done && successNotice(text.done[view.done]),
    body: [
      card({
        id: "scope-details",
        title: text.details,
        body: html`${facts([
          { label: text.displayName, content: html`<bdi>${scope.displayName}</bdi>` },
          {
            label: text.description,
            content: scope.description !== "" && html`<bdi>${scope.description}</bdi>`,
          },
          { label: text.sensitive, content: scope.sensitive ? state("warn", frame.yes) : frame.no },
        ])}${
          claims.length > 0 &&
          table({
            label: text.claims,
            columns: [text.claimName, text.claimFrom],
            rows: claims.map((claim, index) => ({
              id: `claim-${index}`,
              cells: [nameCell({ name: claim.name }), html`<bdi>${displayOrigin(claim, text)}</bdi>`],
            })),
            messages,
          })
        }${claims.length === 0 && html`<p class="quiet">${text.noClaims}</p>`}`,
      }),
      card({ id: "scope-used", title: text.used, text: text.usedText, body: usedBy(view.usedBy, text) }),
      lastChangeLine(view.lastChange, messages),
    ],
  });
}

const MAX_NAMED = 10;

export function usedBy(applications: readonly Named[], text: Messages["console"]["scopes"]): Html {
  if (applications.length === 0) return html`<p class="quiet">${text.unused}</p>`;
  const others = applications.length - MAX_NAMED;
  return html`<ul class="plain-list">${applications
    .slice(0, MAX_NAMED)
    .map(({ name, uri }) => html`<li><a href="${linkAddress(uri)}"><bdi>${name}</bdi></a></li>`)}
${others > 0 && html`<li class="quiet">${text.others({ count: others })}</li>`}</ul>
`;
}

export type ScopeFormView = FormView<ScopeInput> & {
  /** Undefined for a new scope. */
  before: Pick<CustomScope, "id" | "name"> | undefined;
};

export function scopeFormPage(view: ScopeFormView): Html {
  const { messages, before, state: form } = view;
  const { frame, scopes: text } = messages.console;
  const backUri = view.consoleUri(before ? `/scopes/${before.id}` : "/scopes");
  const title = before ? text.editTitle({ name: before.name }) : text.makeTitle;
  return consoleLayout({
    ...view,
    title,
    breadcrumbs: [
      { label: frame.pages.scopes, uri: view.consoleUri("/scopes") },
      ...(before ? [{ label: before.name, uri: backUri }] : []),
    ],
    notice: failureNotice(view.failure ?? faultsFailure(form, (id) => fieldLabel(id, text)), messages),
    body: html`<section class="card">${recordForm({
      ...view,
      id: "scope-form",
      fields: [defaultSubmit, textFields(view), claimFields(view)],
      submit: { id: "scope-save", label: before ? text.save : text.create },
      cancelUri: backUri,
    })}</section>
`,
  });
}

function textFields({ before, input, state: form, messages }: ScopeFormView): Html {
  const { scopes: text } = messages.console;
  return html`${[
    before === undefined &&
      textField({
        id: "name",
        label: text.name,
        hint: text.nameHint,
        value: input.name,
        maxLength: 100,
        isRequired: true,
        isCode: true,
        ...fieldState(form, "name"),
        messages,
      }),
    textField({
      id: "displayName",
      label: text.displayName,
      hint: text.displayNameHint,
      value: input.displayName,
      maxLength: 100,
      isRequired: true,
      ...fieldState(form, "displayName"),
      messages,
    }),
    textArea({
      id: "description",
      label: text.description,
      hint: text.descriptionHint,
      value: input.description,
      rows: 2,
      maxLength: 500,
      isOptional: true,
      ...fieldState(form, "description"),
      messages,
    }),
    checkField({
      id: "sensitive",
      label: text.sensitive,
      hint: text.sensitiveHint,
      isChecked: input.sensitive,
      ...fieldState(form, "sensitive"),
      messages,
    }),
  ]}`;
}

/** Fields of claims are named by their row. */
function fieldLabel(id: string, text: Messages["console"]["scopes"]): string {
  const [, row, field = ""] = /^claim-(\d+)-(\w+)$/.exec(id) ?? [];
  if (row !== undefined) {
    const labels: Readonly<Record<string, string>> = {
      name: text.claimName,
      from: text.claimFrom,
      what: text.claimWhat,
    };
    return `${text.claim({ count: Number(row) + 1 })}: ${labels[field] ?? ""}`;
  }
  return id === "name" ? text.name : id === "displayName" ? text.displayName : text.description;
}

function claimFields({ input, state: form, messages }: ScopeFormView): Html {
  const { frame, scopes: text } = messages.console;
  const { isNow } = fieldState(form, "claims");
  const choices = claimOrigins.map((value) => ({
    value,
    label: (text.origins as Readonly<Record<string, string>>)[value] ?? value,
  }));
  const row = ({ name, from, what }: ScopeInput["claims"][number], index: number): Html => {
    const id = (field: "name" | "from" | "what") => claimFieldId(index, field);
    const claimField = (field: "name" | "what", label: string, value: string, maxLength: number) =>
      textField({
        id: id(field),
        label,
        value,
        maxLength,
        isCode: true,
        ...fieldState(form, id(field)),
        messages,
      });
    return html`<fieldset class="field-triple" id="claim-${index}"><legend class="visually-hidden">${text.claim({ count: index + 1 })}</legend>
${claimField("name", text.claimName, name, 100)}${selectField({
  id: id("from"),
  label: text.claimFrom,
  value: from,
  choices,
  ...fieldState(form, id("from")),
  messages,
})}${claimField("what", text.claimWhat, what, 2_000)}</fieldset>
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
