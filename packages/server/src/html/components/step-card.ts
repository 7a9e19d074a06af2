/** One of the numbered steps of a journey: install, configure, run. */
import { type Content, type Html, html } from "../html.ts";

export function stepCard(view: {
  id: string;
  /** Of several. */
  number: number | undefined;
  title: string;
  text?: Content;
  body?: Content;
}): Html {
  const { id, number, title, text, body } = view;
  return html`<section class="card step-card" id="${id}" aria-labelledby="${id}-title">
<h2 id="${id}-title">${number !== undefined && html`<span class="step-number">${number}</span>`}${title}</h2>
${text !== undefined && html`<p class="quiet">${text}</p>`}
${body}</section>
`;
}
