/** What happened, newest first: embedded in the record that it happened to. */
import { type Content, type Html, html, linkAddress } from "../html.ts";
import type { BadgeKind } from "./badge.ts";
import { type IconName, icon } from "./icons.ts";

export type TimelineEvent = {
  id: string;
  /** `Signed in`. */
  title: Content;
  uri?: string | undefined;
  /** Who, from where, with what. */
  text?: Content;
  /** A `time` element: relative-time.ts. */
  time: Content;
  kind?: BadgeKind | undefined;
  icon?: IconName | undefined;
};

export const timeline = (label: string, events: readonly TimelineEvent[], none: string): Html =>
  events.length === 0
    ? html`<p class="quiet">${none}</p>
`
    : html`<ol class="timeline" aria-label="${label}">
${events.map(timelineItem)}</ol>
`;

function timelineItem({ id, title, uri, text, time, kind = "plain", icon: name }: TimelineEvent): Html {
  const heading = uri === undefined ? title : html`<a href="${linkAddress(uri)}">${title}</a>`;
  return html`<li class="timeline-item ${kind}" id="${id}"><span class="timeline-dot">${name && icon(name)}</span>
<div><p class="timeline-title">${heading}</p>
${text !== undefined && html`<p class="quiet">${text}</p>`}</div>
<span class="timeline-time quiet">${time}</span></li>
`;
}
