/** Where there is nothing yet: what the thing is for, and the button that makes the first one. */
import { type Content, type Html, html } from "../html.ts";
import { type IconName, icon } from "./icons.ts";

export function emptyState(view: { title: string; text: Content; action?: Content; icon?: IconName }): Html {
  return html`<div class="empty">${view.icon && html`<span class="empty-icon">${icon(view.icon)}</span>`}<p class="item-name">${view.title}</p>
<p class="quiet">${view.text}</p>
${view.action !== undefined && html`<div class="actions empty-actions">${view.action}</div>`}</div>
`;
}
