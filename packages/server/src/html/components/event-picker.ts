/** Events to tick, by group: a group is open where something in it is ticked, and where a search finds something (scripts/event-picker.js). */
import { type Html, html } from "../html.ts";
import { described, type Field, fieldNotes } from "./fields.ts";
import { icon } from "./icons.ts";

export interface EventGroup {
  readonly id: string;
  readonly label: string;
  readonly choices: ReadonlyArray<{ readonly name: string; readonly text: string }>;
}

/** The boxes are named `<id>`, and have the ids `<id>-<event>`; the stylesheet shows them where `some` is chosen. */
export function eventPicker(
  view: Field & {
    values: readonly string[];
    groups: readonly EventGroup[];
    searchLabel: string;
    chosen(value: { count: number }): string;
  },
): Html {
  const { id, groups, searchLabel } = view;
  return html`<fieldset class="field event-picker" id="${id}"${described(view)} data-event-picker><legend>${view.label}</legend>
${fieldNotes(view)}<div class="with-icon" data-event-search hidden>${icon("search")}<input type="search" id="${id}-search" aria-label="${searchLabel}" autocomplete="off"></div>
${groups.map((group) => groupOf(view, group))}</fieldset>
`;
}

function groupOf(view: Parameters<typeof eventPicker>[0], { id, label, choices }: EventGroup): Html {
  const count = choices.filter(({ name }) => view.values.includes(name)).length;
  return html`<details class="event-group"${count > 0 && html` open`}><summary id="${view.id}-group-${id}">${label}${count > 0 && html` <span class="quiet">${view.chosen({ count })}</span>`}</summary>
<div class="options">${choices.map((choice) => eventBox(view, choice))}</div></details>
`;
}

function eventBox(
  { id, values }: Parameters<typeof eventPicker>[0],
  { name, text }: EventGroup["choices"][number],
): Html {
  const own = `${id}-${name}`;
  return html`<div class="option" data-event-name="${name} ${text}"><input type="checkbox" id="${own}" name="${id}" value="${name}"${values.includes(name) && html` checked`} aria-describedby="${own}-hint">
<label for="${own}">${text}</label>
<span class="field-hint" id="${own}-hint"><code>${name}</code></span></div>
`;
}
