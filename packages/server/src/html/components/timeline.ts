/** What happened to a record, newest first: one entry for each event, with what is known of it below. */
import { type Content, type Html, html, linkAddress } from "../html.ts";
import { type IconName, icon } from "./icons.ts";
import { relativeTime } from "./relative-time.ts";

export type TimelineItem = {
  id: string;
  at: number;
  /** `Signed in` */
  title: string;
  uri?: string;
  icon?: IconName;
  /** A failure or refusal: the colour repeats what the title says. */
  isBad?: boolean;
  /** Further facts in order; empty ones are left out. */
  facts: readonly Content[];
};

/** @param view.words `messages.format.second` */
export function timeline(view: {
  label: string;
  items: readonly TimelineItem[];
  none: string;
  words: (milliseconds: number) => string;
}): Html {
  if (view.items.length === 0)
    return html`<p class="quiet">${view.none}</p>
`;
  return html`<ol class="timeline" aria-label="${view.label}">
${view.items.map((item) => timelineItem(item, view.words))}</ol>
`;
}

function timelineItem(item: TimelineItem, words: (at: number) => string): Html {
  const { id, at, title, uri, isBad, facts } = item;
  const known = facts.filter((fact) => fact !== undefined && fact !== false && fact !== "");
  const name = uri === undefined ? title : html`<a href="${linkAddress(uri)}">${title}</a>`;
  return html`<li class="timeline-item${isBad && " bad"}" id="${id}"><span class="timeline-dot">${item.icon && icon(item.icon)}</span>
<div><p class="timeline-title">${name}</p>
${known.length > 0 && html`<p class="quiet timeline-facts">${known.map((fact) => html`<span>${fact}</span> `)}</p>`}</div>
<span class="timeline-time quiet">${relativeTime(at, words)}</span></li>
`;
}
