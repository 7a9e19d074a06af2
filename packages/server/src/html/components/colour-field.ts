/** A colour as six hexadecimal digits, with the browser's own picker beside it (scripts/colour-field.js keeps the two the same). */

import { isAccentColour } from "../accent.ts";
import { type Content, type Html, html } from "../html.ts";
import { attributes, type Field, fieldAround } from "./fields.ts";

export function colourField(
  view: Field & {
    value: string;
    placeholder?: string;
    check?: { uri: string; text?: string | undefined };
    below?: Content;
  },
): Html {
  const { id, value, placeholder = "#16191d", messages } = view;
  const shown = isAccentColour(value) ? value : placeholder;
  return html`${fieldAround(
    view,
    html`<div class="colour"><input type="color" id="${id}-picker" value="${shown}" data-colour-of="${id}" aria-label="${messages.console.frame.pickColour}" hidden>
<input class="code" id="${id}" name="${id}" type="text" value="${value}" placeholder="${placeholder}" maxlength="7" pattern="#[0-9a-fA-F]{6}" autocomplete="off" spellcheck="false"${view.check && html` data-check="${view.check.uri}"`}${attributes(view)}></div>`,
  )}${view.below}`;
}
