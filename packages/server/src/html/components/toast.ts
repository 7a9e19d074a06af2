/** What was just done, over the page's foot; with a way back where there is one. scripts/toast.js closes it. */
import { type Html, html, linkAddress } from "../html.ts";
import type { Messages } from "../messages/messages.ts";
import { type HiddenField, hiddenFields } from "./form.ts";
import { icon } from "./icons.ts";

export type Undo = { action: string; label: string; fields: readonly HiddenField[] };

/**
 * A toast with a way back stays until it is closed.
 * @param view.undo of the edit that led to the page
 */
export function toast(
  text: string,
  { messages, undo: ofEdit }: { messages: Messages; undo?: Undo },
  { id = "done-notice", undo = ofEdit }: { id?: string; undo?: Undo } = {},
): Html {
  return html`<div class="toast" id="${id}" role="status">${icon("success")}<p class="notice-title">${text}</p>
${
  undo &&
  html`<form method="post" action="${linkAddress(undo.action)}">${hiddenFields(undo.fields)}<button class="link" id="undo" type="submit">${undo.label}</button></form>`
}<button class="toast-close" type="button" data-toast-close aria-label="${messages.console.frame.close}" hidden>${icon("close")}</button></div>
`;
}
