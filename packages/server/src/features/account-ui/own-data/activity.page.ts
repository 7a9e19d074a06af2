/** The activity page: the account's audit events. */

import { buttonLink } from "../../../html/components/button.ts";
import { card } from "../../../html/components/card.ts";
import { type ConsoleFrame, consoleLayout } from "../../../html/components/console-layout.ts";
import { pagination } from "../../../html/components/pagination.ts";
import { relativeTime } from "../../../html/components/relative-time.ts";
import { type Row, table } from "../../../html/components/table.ts";
import { type Html, html } from "../../../html/html.ts";

export type ActivityView = ConsoleFrame & {
  events: readonly {
    /** Milliseconds. */
    at: number;
    what: string;
    application: string | undefined;
    by: string;
    /** IP address; undefined for other users' actions. */
    address: string | undefined;
    browser: string | undefined;
  }[];
  newestUri: string | undefined;
  olderUri: string | undefined;
  /** Changes the password; for guests, sign out everywhere. */
  notMeUri: string;
};

export function activityPage(view: ActivityView): Html {
  const { messages, events } = view;
  const text = messages.console.account.activity;
  return consoleLayout({
    ...view,
    title: text.title,
    summary: text.summary({ organisation: view.organisation.name }),
    body: html`<div class="cards">
<section class="card" aria-label="${text.title}">
${
  events.length === 0
    ? html`<p class="quiet">${text.none}</p>
`
    : table({
        label: text.title,
        columns: [text.what, text.when, text.by, text.from],
        rows: events.map((event, index) => row(view, event, index)),
        messages,
      })
}${pagination(view)}</section>
${card({
  id: "not-me",
  title: text.notYou,
  text: text.notYouText,
  body: html`<div class="actions">${buttonLink({ id: "not-me-act", uri: view.notMeUri, label: text.notYouAct })}</div>
`,
})}</div>
`,
  });
}

const capitalised = ([first = "", ...rest]: string): string => first.toLocaleUpperCase() + rest.join("");

function row({ messages }: ActivityView, event: ActivityView["events"][number], index: number): Row {
  const { application, browser, address } = event;
  const note = application ?? browser;
  return {
    id: `event-${index}`,
    cells: [
      html`<span class="item-name">${event.what}</span>${note !== undefined && html`<span class="quiet item-note"><bdi>${note}</bdi></span>`}`,
      relativeTime(event.at, messages.format.minute),
      capitalised(event.by),
      address ?? "–",
    ],
  };
}
