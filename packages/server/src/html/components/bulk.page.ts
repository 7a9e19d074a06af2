/** Before and after an act on several records: which ones, and why some are left out. */
import { type Html, html, linkAddress } from "../html.ts";
import { confirmActPage } from "./act.page.ts";
import { type ConsoleFrame, consoleLayout } from "./console-layout.ts";
import { hiddenFields } from "./form.ts";
import type { Undo } from "./toast.ts";

/** @param reason why nothing happens to it, or happened */
export type BulkOutcome = {
  name: string;
  reason: string | undefined;
  /** Of a record that the act was done to. */
  id?: string;
};

type ConfirmView = Parameters<typeof confirmActPage>[0];

export function bulkQuestionPage(
  view: Omit<ConfirmView, "confirm" | "confirmId" | "breadcrumbs" | "text"> & {
    text: string;
    /** On the button. */
    label: string;
    rows: readonly BulkOutcome[];
    ids: readonly string[];
    act: string;
    back: string;
  },
): Html {
  const { ids, act, back } = view;
  return confirmActPage({
    ...view,
    breadcrumbs: [],
    text: html`<p>${view.text}</p>
${outcomeList(view.rows)}`,
    confirm: view.label,
    confirmId: "bulk-confirm",
    fields: html`${hiddenFields([
      { name: "act", value: act },
      { name: "back", value: back },
      { name: "confirmed", value: "yes" },
      ...ids.map((value) => ({ name: "selected", value })),
    ])}${view.fields}`,
  });
}

/** What was done, what was not, and the way back where there is one: a question about those that it was done to. */
export function bulkResultPage(
  view: Omit<ConsoleFrame, "undo"> & {
    label: string;
    outcomes: readonly BulkOutcome[];
    backUri: string;
    undo?: Undo | undefined;
  },
): Html {
  const { undo, ...frame } = view;
  const { list } = view.messages.console.frame;
  const done = view.outcomes.filter(({ reason }) => reason === undefined).length;
  const failed = view.outcomes.length - done;
  return consoleLayout({
    ...frame,
    breadcrumbs: [],
    title: view.label,
    summary: failed === 0 ? list.done({ count: done }) : list.partlyDone({ count: done, failed }),
    body: html`<section class="card" id="bulk-result">
${outcomeList(view.outcomes)}<div class="actions"><a class="button primary" id="bulk-back" href="${linkAddress(view.backUri)}">${list.backToList}</a>${undo && html`<form method="post" action="${linkAddress(undo.action)}">${hiddenFields(undo.fields)}<button class="button" id="bulk-undo" type="submit">${undo.label}</button></form>`}</div></section>
`,
  });
}

/** Those that something is in the way of first. */
function outcomeList(rows: readonly BulkOutcome[]): Html {
  const kept = rows.filter(({ reason }) => reason !== undefined);
  const affected = rows.filter(({ reason }) => reason === undefined);
  return html`<ul class="bulk-rows">${[...kept, ...affected].map(
    ({ name, reason }) =>
      html`<li><bdi>${name}</bdi>${reason !== undefined && html` <span class="quiet">– ${reason}</span>`}</li>
`,
  )}</ul>
`;
}
