/** Authorization details (RFC 9396) in the words of their types; what the application has filled in stands out. */
import { type Html, html } from "../html.ts";

export interface DetailText {
  readonly type: string;
  readonly displayName: string;
  readonly parts: ReadonlyArray<{ readonly kind: "text" | "value"; readonly text: string }>;
}

export const detailList = (details: readonly DetailText[], labelledBy: string): Html =>
  html`<ul class="details" aria-labelledby="${labelledBy}">
${details.map(detailItem)}</ul>`;

/** `data-words` holds the sentence as one text, for automation. */
const detailItem = ({ type, displayName, parts }: DetailText): Html =>
  html`<li data-detail="${type}" data-words="${parts.map(({ text }) => text).join("")}"><span class="quiet item-note"><bdi>${displayName}</bdi></span>
<p>${parts.map(({ kind, text }) => (kind === "value" ? html`<bdi class="filled">${text}</bdi>` : text))}</p></li>
`;
