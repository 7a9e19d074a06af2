/** Sections of a page, and lists of facts. */
import { type Content, type Html, html } from "../html.ts";

/** The heading gets the id `<id>-title`. */
export function card(view: {
  id: string;
  title: string;
  text?: Content;
  actions?: Content;
  body?: Content;
  isDangerous?: boolean;
}): Html {
  const { id, title, text, actions, body } = view;
  return html`<section class="card${view.isDangerous && " danger"}" id="${id}" aria-labelledby="${id}-title">
<div class="bar"><h2 id="${id}-title">${title}</h2>
${actions}</div>
${text !== undefined && html`<p class="quiet">${text}</p>`}
${body}</section>
`;
}

/** A description list. Entries without content are left out. */
export function facts(entries: ReadonlyArray<{ label: string; content: Content; id?: string }>): Html {
  return html`<dl class="fact-list">${entries
    .filter(({ content }) => content !== undefined && content !== null && content !== false)
    .map(
      ({ label, content, id }) =>
        html`<div><dt>${label}</dt><dd${id !== undefined && html` id="${id}"`}>${content}</dd></div>
`,
    )}</dl>
`;
}
