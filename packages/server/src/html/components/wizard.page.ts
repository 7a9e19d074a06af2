/** Steps to do elsewhere, with secrets that are shown once, beside a panel that sees when they are done. */
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
    Pick<ConsoleView, "breadcrumbs"> & {
      title: string;
      text: Content;
      steps: ReadonlyArray<{ id: string; title: string; text?: Content; body: Content }>;
      /** See live-panel.ts. */
      panel: Html;
      doneUri: string;
    },
): Html {
  const { secret } = view.messages.console.frame;
  return consoleLayout({
    ...view,
    scripts: [liveScript.path],
    notice: banner("warning", "once-notice", secret.once, html`<p>${view.text}</p>`),
    body: html`<div class="with-aside"><div class="with-aside-main">
${view.steps.map((step, index) => stepCard({ ...step, number: index + 1 }))}<div class="actions"><a class="button primary" id="once-done" href="${linkAddress(view.doneUri)}">${secret.done}</a></div></div>
<div class="with-aside-beside">${view.panel}</div></div>
${copyStatus}${liveStatus}`,
  });
}
