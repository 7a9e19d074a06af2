/** Error and hint notices. */
import { type Html, html } from "../html.ts";

/**
 * A message a person must not miss, announced when the page opens: an `error` interrupts (`alert`), a `hint` waits
 * (`status`). Fields that it is about name its id in `aria-describedby`.
 */
export function notice(kind: "error" | "hint", id: string, title: string, text?: string): Html {
  return html`<div class="notice ${kind}" id="${id}" role="${kind === "error" ? "alert" : "status"}">
<p class="notice-title">${title}</p>
${text !== undefined && html`<p>${text}</p>`}
</div>
`;
}
