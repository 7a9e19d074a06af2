/** What nobody must miss: an error, a warning, a hint. Fields that it is about name its id in `aria-describedby`. */
import { type Content, type Html, html } from "../html.ts";
import { type IconName, icon } from "./icons.ts";

export type BannerKind = "error" | "warning" | "hint" | "success";

const ICONS: Readonly<Record<BannerKind, IconName>> = {
  error: "failure",
  warning: "warning",
  hint: "info",
  success: "success",
};

/** Announced when the page opens: an error interrupts (`alert`), the others wait (`status`). */
export function banner(kind: BannerKind, id: string, title: string, text?: Content, action?: Content): Html {
  return html`<div class="notice ${kind}" id="${id}" role="${kind === "error" ? "alert" : "status"}">${icon(ICONS[kind])}
<div class="notice-text"><p class="notice-title">${title}</p>
${typeof text === "string" ? html`<p>${text}</p>` : text}</div>
${action !== undefined && html`<div class="notice-action">${action}</div>`}</div>
`;
}
