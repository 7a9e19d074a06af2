/** What was just done, over the page's foot; with a way back where there is one. scripts/toast.js closes it. */
import { type Html, html, linkAddress } from "../html.ts";
import type { Messages } from "../messages/messages.ts";
import { type HiddenField, hiddenFields } from "./form.ts";
import { icon } from "./icons.ts";

export type Undo = { action: string; label: string; fields: readonly HiddenField[] };

/** A toast with `undo` stays until it is closed. */
export function toast(
  text: string,
  { console: { frame } }: Messages,
  { id = "done-notice", undo }: { id?: string; undo?: Undo } = {},
): Html {
  return html`<div class="toast" id="${id}" role="status">${icon("success")}<p class="notice-title">${text}</p>
${
  undo &&
  html`<form method="post" action="${linkAddress(undo.action)}">${hiddenFields(undo.fields)}<button class="link" id="undo" type="submit">${undo.label}</button></form>`
}<button class="toast-close" type="button" data-toast-close aria-label="${frame.close}" hidden>${icon("close")}</button></div>
`;
}
