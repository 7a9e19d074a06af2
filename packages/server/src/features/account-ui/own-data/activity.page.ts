import { type ConsoleFrame, consoleLayout } from "../../../html/components/console-layout.ts";
import { buttonLink, card, moment } from "../../../html/components/parts.ts";
import { pager, type Row, table } from "../../../html/components/table.ts";
import { type Html, html } from "../../../html/html.ts";

export type ActivityView = ConsoleFrame & {
  events: readonly {
    /** Milliseconds. */
    at: number;
    what: string;
    /** Of the application that it was about. */
    application: string | undefined;
    by: string;
    /** A network address; undefined when it is somebody else's. */
    address: string | undefined;
    /** In words of our own. */
    browser: string | undefined;
  }[];
  newestUri: string | undefined;
  olderUri: string | undefined;
  /** A guest sets no password here: signing out everywhere helps. */
  notMeUri: string;
};

/** What happened with the account, and the way out for who does not know it. */
export function activityPage(view: ActivityView): Html {
  const { messages, events } = view;
  const text = messages.console.account.activity;
  return consoleLayout({
    ...view,
    title: text.title,
    breadcrumbs: [],
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
}${pager(view)}</section>
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

/** Words that stand in sentences elsewhere. */
const capitalised = ([first = "", ...rest]: string): string => first.toLocaleUpperCase() + rest.join("");

function row({ messages }: ActivityView, event: ActivityView["events"][number], index: number): Row {
  const { application, browser, address } = event;
  const note = application ?? browser;
  return {
    id: `event-${index}`,
    cells: [
      html`<span class="item-name">${event.what}</span>${note !== undefined && html`<bdi class="quiet item-note">${note}</bdi>`}`,
      moment(event.at, messages.format.minute),
      capitalised(event.by),
      address ?? "–",
    ],
  };
}
