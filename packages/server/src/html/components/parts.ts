/** Building blocks of console pages: cards, facts, statuses, empty states. */
import { type Content, type Html, html, linkAddress } from "../html.ts";

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

export type StateKind = "good" | "warn" | "bad" | "plain";

/** A status. The colour only repeats the word. */
export const state = (kind: StateKind, text: string): Html =>
  html`<span class="state ${kind}">${text}</span>`;

export function emptyState(view: { title: string; text: Content; action?: Content }): Html {
  return html`<div class="empty"><p class="item-name">${view.title}</p>
<p class="quiet">${view.text}</p>
${view.action !== undefined && html`<div class="actions">${view.action}</div>`}</div>
`;
}

/** Applications, each a link to its page. @param more a last entry */
export const applicationLinks = (
  applications: ReadonlyArray<{ id: string; name: string }>,
  consoleUri: (rest: string) => string,
  more?: Content,
): Html =>
  html`<ul class="plain-list">${applications.map(
    ({ id, name }) =>
      html`<li><a href="${linkAddress(consoleUri(`/applications/${id}`))}"><bdi>${name}</bdi></a></li>`,
  )}${more}</ul>
`;

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

/** A `time` element. @param words `messages.format.day` or `.minute` */
export const moment = (milliseconds: number, words: (milliseconds: number) => string): Html =>
  html`<time datetime="${new Date(milliseconds).toISOString()}">${words(milliseconds)}</time>`;

/** A value with a copy button, which appears where it works (scripts/copy.js). */
export function copyable(view: {
  id: string;
  value: string;
  copy: string;
  copied: string;
  label?: string;
}): Html {
  const name = view.label === undefined ? view.copy : `${view.copy}: ${view.label}`;
  return html`<span class="copyable"><code id="${view.id}">${view.value}</code>
<button class="copy" type="button" data-copy="${view.id}" data-copied="${view.copied}" aria-label="${name}" hidden>${view.copy}</button></span>
`;
}

/** Lines of a file or a shell, with a copy button. */
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

/** Where copy buttons announce success: once on a page. */
export const copyStatus: Html = html`<p class="visually-hidden" id="copy-status" role="status"></p>
`;

/** Pages under one entry of the navigation. */
export function tabs(view: {
  label: string;
  links: ReadonlyArray<{ id: string; label: string; uri: string; isCurrent: boolean }>;
}): Html {
  return html`<nav class="tabs" aria-label="${view.label}"><ul>
${view.links.map(
  ({ id, label, uri, isCurrent }) =>
    html`<li><a id="${id}" href="${linkAddress(uri)}"${isCurrent && html` aria-current="page"`}>${label}</a></li>
`,
)}</ul></nav>
`;
}
