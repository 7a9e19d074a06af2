/** What pages of the console are put together of: cards, facts, states, empty places. */
import { type Content, type Html, html, linkAddress } from "../html.ts";

/** One subject of a page. Its heading gets the id `<id>-title`. */
export function card(view: {
  id: string;
  title: string;
  text?: Content;
  /** Beside the heading. */
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

/** Names and their values, of one record. Entries without content are left out. */
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

export type StateKind = "good" | "warn" | "bad" | "plain";

/** How something stands, in a word. The colour only repeats what the word says. */
export const state = (kind: StateKind, text: string): Html =>
  html`<span class="state ${kind}">${text}</span>`;

/** Says what a place is for, and has the button that fills it. */
export function emptyState(view: { title: string; text: Content; action?: Content }): Html {
  return html`<div class="empty"><p class="item-name">${view.title}</p>
<p class="quiet">${view.text}</p>
${view.action !== undefined && html`<div class="actions">${view.action}</div>`}</div>
`;
}

/** A link that looks like a button. */
export function buttonLink(view: {
  id: string;
  uri: string;
  label: string;
  isPrimary?: boolean;
  isDangerous?: boolean;
}): Html {
  const kind = `${view.isPrimary ? " primary" : ""}${view.isDangerous ? " dangerous" : ""}`;
  return html`<a class="button${kind}" id="${view.id}" href="${linkAddress(view.uri)}">${view.label}</a>
`;
}

/** A moment: words for people, ISO 8601 for programs. @param words `messages.format.day` or `.minute` */
export const moment = (milliseconds: number, words: (milliseconds: number) => string): Html =>
  html`<time datetime="${new Date(milliseconds).toISOString()}">${words(milliseconds)}</time>`;

/** A value to be copied: an address, an identifier. The button appears where it can work (scripts/copy.js). */
export function copyable(view: {
  id: string;
  value: string;
  copy: string;
  copied: string;
  /** Said to those who do not see what the button stands beside. */
  label?: string;
}): Html {
  const name = view.label === undefined ? view.copy : `${view.copy}: ${view.label}`;
  return html`<span class="copyable"><code id="${view.id}">${view.value}</code>
<button class="copy" type="button" data-copy="${view.id}" data-copied="${view.copied}" aria-label="${name}" hidden>${view.copy}</button></span>
`;
}

/** Lines of a file or a shell, with their button. */
export function snippet(view: {
  id: string;
  title: string;
  lines: string;
  copy: string;
  copied: string;
}): Html {
  return html`<figure class="snippet"><figcaption class="bar"><span>${view.title}</span>
<button class="copy" type="button" data-copy="${view.id}" data-copied="${view.copied}" aria-label="${view.copy}: ${view.title}" hidden>${view.copy}</button></figcaption>
<pre tabindex="0" aria-label="${view.title}"><code id="${view.id}">${view.lines}</code></pre></figure>
`;
}

/** Where copy buttons say that it is done. Once in a page that has any. */
export const copyStatus: Html = html`<p class="visually-hidden" id="copy-status" role="status"></p>
`;
