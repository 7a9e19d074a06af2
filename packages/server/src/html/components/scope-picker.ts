/** Scopes to tick: standard ones and the organisation's own, sensitive ones marked; many of them can be searched (scripts/scope-picker.js). */
import { type Content, type Html, html } from "../html.ts";
import { badge } from "./badge.ts";
import { described, type Field, fieldNotes } from "./fields.ts";
import { icon } from "./icons.ts";

export type ScopeChoice = {
  name: string;
  text?: string | undefined;
  isSensitive?: boolean | undefined;
  /** `Standard scopes`. */
  group: string;
};

const SEARCHED_FROM = 8;

/** The boxes are named `<id>`, and have the ids `<id>-<scope>`. */
export function scopePicker(
  view: Field & { values: readonly string[]; choices: readonly ScopeChoice[]; sensitive: string },
): Html {
  const { id, choices, messages } = view;
  const { list } = messages.console.frame;
  const groups = [...Map.groupBy(choices, ({ group }) => group)];
  return html`<fieldset class="field scope-picker" id="${id}"${described(view)} data-scope-picker><legend>${view.label}</legend>
${fieldNotes(view)}<div class="options">${
    choices.length >= SEARCHED_FROM &&
    html`<div class="with-icon" data-scope-search hidden>${icon("search")}<input type="search" id="${id}-search" aria-label="${list.filterOf({ field: view.label })}" autocomplete="off"></div>
`
  }${groups.map(
    ([group, members]) => html`<div class="scope-group"><p class="scope-group-title">${group}</p>
${members.map((choice) => scopeBox(view, choice, view.hasFocus === true && choice === choices[0]))}</div>
`,
  )}</div></fieldset>
`;
}

function scopeBox(
  { id, values, sensitive }: Parameters<typeof scopePicker>[0],
  { name, text, isSensitive }: ScopeChoice,
  hasFocus: boolean,
): Content {
  const own = `${id}-${name}`;
  return html`<div class="option" data-scope-name="${name} ${text}"><input type="checkbox" id="${own}" name="${id}" value="${name}"${values.includes(name) && html` checked`}${hasFocus && html` autofocus`}${text !== undefined && html` aria-describedby="${own}-hint"`}>
<label for="${own}"><code>${name}</code>${isSensitive && html` ${badge("warn", sensitive)}`}</label>
${text !== undefined && html`<span class="field-hint" id="${own}-hint">${text}</span>`}</div>
`;
}
