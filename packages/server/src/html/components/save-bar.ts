/**
 * The buttons of a form, which stay in sight. Where a record is edited, scripts/save-bar.js counts the fields that differ from what the page came
 * with, and puts them back with "Discard"; without it, save and cancel are plain buttons.
 */
import { type Content, type Html, html, linkAddress } from "../html.ts";
import type { Messages } from "../messages/messages.ts";

export function saveBar(view: {
  submit: { id: string; label: string };
  more?: Content;
  cancel?: { id: string; uri: string } | undefined;
  /** False where something new is made: nothing counts as changed. */
  isEdit?: boolean;
  messages: Messages;
}): Html {
  const { submit, cancel, isEdit = true } = view;
  const { form } = view.messages.console.frame;
  const counted = html` data-save-bar data-one="${form.unsaved({ count: 1 })}" data-many="${form.unsaved({ count: 2 }).replace("2", "#")}"`;
  return html`<div class="actions save-bar"${isEdit && counted}>${isEdit && html`<p class="save-bar-count" role="status"></p>`}
${view.more}${cancel && html`<a class="button" id="${cancel.id}" href="${linkAddress(cancel.uri)}">${form.cancel}</a>`}${isEdit && html`<button class="button" type="button" data-discard hidden>${form.discard}</button>`}
<button class="button primary" id="${submit.id}" type="submit">${submit.label}</button></div>
`;
}
