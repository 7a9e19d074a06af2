/** Where a journey ends: what came of it, one button, and whom to ask. */
import { type Content, type Html, html, linkAddress } from "../html.ts";
import { type LayoutView, signInLayout } from "../layout.ts";
import { type IconName, icon } from "./icons.ts";

export type Outcome = "success" | "failure" | "info";

const ICONS: Readonly<Record<Outcome, IconName>> = { success: "success", failure: "failure", info: "info" };

export function terminalPage(
  view: Omit<LayoutView, "body"> & {
    outcome: Outcome;
    /** Of the heading. */
    id?: string;
    text?: Content;
    action?: { id: string; label: string; uri: string } | undefined;
    /** Below the button: a reference, whom to ask. */
    more?: Content;
  },
): Html {
  const { outcome, title, text, action, more, id } = view;
  return signInLayout({
    ...view,
    body: html`<div class="outcome ${outcome}">${icon(ICONS[outcome])}
<h1${id !== undefined && html` id="${id}"`}>${title}</h1>
${typeof text === "string" ? html`<p class="quiet">${text}</p>` : text}</div>
${action && html`<a class="button primary" id="${action.id}" href="${linkAddress(action.uri)}">${action.label}</a>`}
${more}`,
  });
}
