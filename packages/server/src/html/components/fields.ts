/** Form fields of the console: label, hint, fault, and the present value when somebody else has changed it. */
import { type Content, type Html, html } from "../html.ts";
import type { Messages } from "../messages/messages.ts";

/** The id is also the field's name. */
export type Field = {
  id: string;
  label: string;
  hint?: Content;
  fault?: string | undefined;
  hasFocus?: boolean;
  /** The present value in words when somebody else has changed it; empty when it was cleared. */
  isNow?: string | undefined;
  isOptional?: boolean;
  messages: Messages;
};

export type TextField = Field & {
  value: string;
  type?: "text" | "email" | "url" | "number" | "tel" | "date" | "datetime-local" | "password" | "color";
  maxLength?: number;
  min?: number;
  max?: number;
  isRequired?: boolean;
  isReadOnly?: boolean;
  autocomplete?: string;
  /** Monospaced: identifiers and URIs. */
  isCode?: boolean;
  /** After the field: `seconds`. */
  unit?: string;
  check?: Check | undefined;
};

/** Validated while typing by scripts/checks.js; the server validates when the form is sent. */
export type Check = {
  uri: string;
  text?: string | undefined;
};

export function textField(view: TextField): Html {
  const { id, value, type = "text", maxLength, min, max } = view;
  const input = html`<input id="${id}" name="${id}" type="${type}" value="${value}"${
    maxLength !== undefined && html` maxlength="${maxLength}"`
  }${min !== undefined && html` min="${min}"`}${max !== undefined && html` max="${max}"`}${
    view.isRequired && html` required`
  }${view.isReadOnly && html` readonly`} autocomplete="${view.autocomplete ?? "off"}"${
    view.isCode && html` class="code" spellcheck="false" autocapitalize="none"`
  }${view.check && html` data-check="${view.check.uri}"`}${attributes(view)}>`;
  return fieldAround(
    view,
    view.unit === undefined
      ? input
      : html`<div class="with-unit">${input}<span class="unit">${view.unit}</span></div>`,
  );
}

export function textArea(
  view: Field & {
    value: string;
    rows: number;
    maxLength?: number;
    autocomplete?: string;
    isCode?: boolean;
    check?: Check | undefined;
  },
): Html {
  const { id, value, rows, maxLength } = view;
  return fieldAround(
    view,
    // The HTML parser drops one line break after the tag.
    html`<textarea id="${id}" name="${id}" rows="${rows}"${maxLength !== undefined && html` maxlength="${maxLength}"`}${
      view.isCode && html` class="code" spellcheck="false" autocapitalize="none"`
    }${view.check && html` data-check="${view.check.uri}"`} autocomplete="${view.autocomplete ?? "off"}"${attributes(view)}>
${value}</textarea>`,
  );
}

export type Choice = { value: string; label: string; text?: Content; group?: string };

/** Choices with the same `group` become an optgroup. */
export function selectField(view: Field & { value: string; choices: readonly Choice[] }): Html {
  const { id, value, choices } = view;
  const option = (choice: Choice) =>
    html`<option value="${choice.value}"${choice.value === value && html` selected`}>${choice.label}</option>
`;
  const groups = [...Map.groupBy(choices, ({ group }) => group)];
  return fieldAround(
    view,
    html`<select id="${id}" name="${id}"${attributes(view)}>
${groups.map(([group, members]) =>
  group === undefined
    ? members.map(option)
    : html`<optgroup label="${group}">${members.map(option)}</optgroup>`,
)}</select>`,
  );
}

/** The ids are `<id>-<value>`. */
export const radioField = (view: Field & { value: string; choices: readonly Choice[] }): Html =>
  optionList(view, "radio", view.choices, [view.value]);

/** Checkboxes of one name. The ids are `<id>-<value>`. */
export const checkList = (view: Field & { values: readonly string[]; choices: readonly Choice[] }): Html =>
  optionList(view, "checkbox", view.choices, view.values);

function optionList(
  view: Field,
  type: "radio" | "checkbox",
  choices: readonly Choice[],
  selected: readonly string[],
): Html {
  const { id } = view;
  return html`<fieldset class="field" id="${id}"${described(view)}><legend>${view.label}</legend>
${fieldNotes(view)}<div class="options">${choices.map((choice, index) => {
    const own = `${id}-${choice.value}`;
    const isFirst = index === 0 && view.hasFocus;
    return html`<div class="option"><input type="${type}" id="${own}" name="${id}" value="${choice.value}"${
      selected.includes(choice.value) && html` checked`
    }${isFirst && html` autofocus`}${choice.text !== undefined && html` aria-describedby="${own}-hint"`}>
<label for="${own}">${choice.label}</label>
${choice.text !== undefined && html`<span class="field-hint" id="${own}-hint">${choice.text}</span>`}</div>
`;
  })}</div></fieldset>
`;
}

/** Sends `on` when ticked. @param view.legend what it is about, where it stands among fields of other kinds */
export function checkField(
  view: Field & { isChecked: boolean; isDisabled?: boolean; legend?: string | undefined },
): Html {
  const box = checkBox(view);
  const { legend } = view;
  return legend === undefined
    ? html`<div class="field">${box}</div>
`
    : html`<fieldset class="field"><legend>${legend}</legend>
${box}</fieldset>
`;
}

function checkBox(view: Parameters<typeof checkField>[0]): Html {
  const { id } = view;
  return html`<div class="option"><input type="checkbox" id="${id}" name="${id}"${view.isChecked && html` checked`}${
    view.isDisabled && html` disabled`
  }${attributes(view)}>
<label for="${id}">${view.label}</label>
${view.hint !== undefined && html`<span class="field-hint" id="${id}-hint">${view.hint}</span>`}</div>
${faultText(view)}${presentValue(view)}`;
}

/** Enter presses the first button of a form: this one comes before fields that have buttons of their own. */
export const defaultSubmit: Html = html`<button class="visually-hidden" type="submit" tabindex="-1" aria-hidden="true"></button>
`;

/** Fields side by side where there is room. */
export const fieldRow = (...fields: readonly Content[]): Html => html`<div class="field-row">${fields}</div>
`;

/** A field of another kind: its label, its control, its hint and faults. */
export function fieldAround(view: Field & { check?: Check | undefined }, control: Html): Html {
  const { frame } = view.messages.console;
  return html`<div class="field"><label for="${view.id}">${view.label}${
    view.isOptional && html` <span class="quiet optional">${frame.form.optional}</span>`
  }</label>
${control}
${fieldNotes(view)}${
  // Reserves the space, so that nothing moves.
  view.check && html`<p class="field-check" id="${view.id}-check" aria-live="polite">${view.check.text}</p>`
}</div>
`;
}

export const fieldNotes = (view: Field): Content => [
  view.hint !== undefined &&
    html`<p class="field-hint" id="${view.id}-hint">${view.hint}</p>
`,
  faultText(view),
  presentValue(view),
];

const faultText = ({ id, fault }: Field): Content =>
  fault !== undefined &&
  html`<p class="failed" id="${id}-fault">${fault}</p>
`;

function presentValue({ id, isNow, messages }: Field): Content {
  if (isNow === undefined) return undefined;
  const { form } = messages.console.frame;
  return html`<p class="is-now" id="${id}-now">${isNow === "" ? form.isNowEmpty : form.isNow({ value: isNow })}</p>
`;
}

export function described({ id, hint, fault, isNow }: Field): Content {
  const ids = [
    hint !== undefined && `${id}-hint`,
    fault !== undefined && `${id}-fault`,
    isNow !== undefined && `${id}-now`,
  ].filter((one) => one !== false);
  return ids.length > 0 && html` aria-describedby="${ids.join(" ")}"`;
}

export const attributes = (view: Field): Content => [
  described(view),
  view.fault !== undefined && html` aria-invalid="true"`,
  view.hasFocus && html` autofocus`,
];
