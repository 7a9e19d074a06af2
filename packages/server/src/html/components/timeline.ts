/** What happened to a record, newest first: one line for each event, with what is known of it below. */
import { type Content, type Html, html, linkAddress } from "../html.ts";
import { moment } from "./parts.ts";

export type TimelineItem = {
  id: string;
  at: number;
  /** `Signed in` */
  title: string;
  uri: string;
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

function timelineItem(
  { id, at, title, uri, isBad, facts }: TimelineItem,
  words: (at: number) => string,
): Html {
  const known = facts.filter((fact) => fact !== undefined && fact !== false && fact !== "");
  return html`<li${isBad && html` class="bad"`} id="${id}"><div class="bar"><a class="item-name" href="${linkAddress(uri)}">${title}</a>
<span class="quiet">${moment(at, words)}</span></div>
${
  known.length > 0 &&
  html`<p class="quiet timeline-facts">${known.map((fact) => html`<span>${fact}</span> `)}</p>
`
}</li>
`;
}
