/** Steps to do elsewhere, beside a panel that sees when they are done. What is shown once stands above them. */
import type { Content, Html } from "../html.ts";
import { html, linkAddress } from "../html.ts";
import { liveScript } from "../scripts.ts";
import { banner } from "./banner.ts";
import { type ConsoleFrame, type ConsoleView, consoleLayout } from "./console-layout.ts";
import { copyStatus } from "./copy-field.ts";
import { liveStatus } from "./live.ts";
import { stepCard } from "./step-card.ts";

/** The page is not cached (`cache-control: no-store`). */
export function wizardPage(
  view: ConsoleFrame &
    Pick<ConsoleView, "breadcrumbs" | "summary" | "notice"> & {
      title: string;
      steps: ReadonlyArray<{ id: string; title: string; text?: Content; body: Content }>;
      /** See live-panel.ts. */
      panel: Html;
      /** What the page shows, it shows once. */
      shownOnce?: { text: Content; doneUri: string };
    },
): Html {
  const { shownOnce: once, steps } = view;
  // One alone is no sequence.
  const numberOf = (index: number) => (steps.length > 1 ? index + 1 : undefined);
  const { secret } = view.messages.console.frame;
  const done =
    once &&
    html`<div class="actions"><a class="button primary" id="once-done" href="${linkAddress(once.doneUri)}">${secret.done}</a></div>`;
  return consoleLayout({
    ...view,
    scripts: [liveScript.path],
    notice: view.notice ?? (once && banner("warning", "once-notice", secret.once, html`<p>${once.text}</p>`)),
    body: html`<div class="with-aside"><div class="with-aside-main">
${steps.map((step, index) => stepCard({ ...step, number: numberOf(index) }))}${done}</div>
<div class="with-aside-beside">${view.panel}</div></div>
${copyStatus}${liveStatus}`,
  });
}
