/** A value to copy: an identifier, an address. The button appears where copying works (scripts/copy.js). */
import { type Html, html } from "../html.ts";
import { icon } from "./icons.ts";

export type CopyTexts = {
  copy: string;
  copied: string;
};

/** The button alone. @param copies the id of the element whose text is copied */
export const copyButton = (copies: string, { copy, copied }: CopyTexts, label?: string): Html =>
  html`<button class="copy" type="button" data-copy="${copies}" data-copied="${copied}" aria-label="${label === undefined ? copy : `${copy}: ${label}`}" hidden>${icon("copy")}${icon("check")}</button>`;

export function copyField(view: CopyTexts & { id: string; value: string; label?: string }): Html {
  return html`<span class="copyable"><code id="${view.id}">${view.value}</code>
${copyButton(view.id, view, view.label)}</span>
`;
}

/** Where copy buttons announce success: once on a page. */
export const copyStatus: Html = html`<p class="visually-hidden" id="copy-status" role="status"></p>
`;
