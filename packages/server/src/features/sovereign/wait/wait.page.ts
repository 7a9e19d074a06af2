/** The page on which a person waits for their organisation's agent, answers its question, and learns how it ended. */
import { applicationHome } from "../../../html/components/application-home.ts";
import { notice } from "../../../html/components/notice.ts";
import { type Html, html, linkAddress } from "../../../html/html.ts";
import { signInLayout } from "../../../html/layout.ts";
import { waitScript } from "../../../html/scripts.ts";
import { shownAs } from "./wait-content.ts";
import { nameOf } from "./wait-status.ts";
import type { ShownAs, WaitView } from "./wait-view.ts";

/** Seconds between two looks of a browser without scripts, while nothing is asked of anybody. */
const LOOK_AGAIN = 4;

export function waitPage(view: WaitView): Html {
  const shown = shownAs(view);
  return signInLayout({
    ...view,
    title: view.messages.frame.documentTitle({ title: shown.heading, organisation: view.organisation.name }),
    scripts: [waitScript.path],
    refresh: refreshOf(view),
    body: html`${content(view, shown)}
<p class="notice hint" id="wait-offline" role="status" hidden>${view.messages.wait.offline}</p>
<p class="visually-hidden" id="wait-news" role="status"></p>`,
  });
}

/** What the script puts into the page's place when there is news. */
function content(view: WaitView, shown: ShownAs): Html {
  return html`<section class="wait" id="wait" data-path="${linkAddress(view.path)}" data-shows="${nameOf(view.status)}" data-goes-on="${goesOnTo(view)}">
${failureNotice(view)}
<div class="title"><h1 id="wait-title" tabindex="-1">${shown.heading}</h1>
${applicationHome(view.application)}</div>
${shown.body}
</section>`;
}

/** An agent's yes leads on by itself. */
const goesOnTo = ({ status, path }: WaitView): string | undefined =>
  status.status === "signed" && status.continueUrl !== undefined
    ? linkAddress(`${path}/continue`)
    : undefined;

function failureNotice({ error, messages }: WaitView): Html | undefined {
  const text = messages.wait;
  if (error === undefined) return undefined;
  return error === "stale"
    ? notice("error", "wait-notice", text.stale, text.staleText)
    : notice("error", "wait-notice", text.pageTooOld, text.pageTooOldText);
}

/** Nothing is taken from under the hands of somebody who types: a question stays until its time is over. */
function refreshOf({ status, path }: WaitView): { seconds: number; path: string } | undefined {
  if (status.status === "pending") return { seconds: LOOK_AGAIN, path };
  if (status.status === "challenge")
    return { seconds: (status.challenge?.expiresIn ?? LOOK_AGAIN) + 1, path };
  return status.status === "signed" && status.continueUrl !== undefined
    ? { seconds: 0, path: `${path}/continue` }
    : undefined;
}
