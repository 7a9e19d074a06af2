/** The page where a user waits for an agent, answers its challenge, and sees the outcome. */
import { applicationHome } from "../../../html/components/mark.ts";
import { notice } from "../../../html/components/notice.ts";
import { type Html, html, linkAddress } from "../../../html/html.ts";
import { signInLayout } from "../../../html/layout.ts";
import { waitScript } from "../../../html/scripts.ts";
import { waitContent } from "./wait-content.ts";
import { displayKey } from "./wait-status.ts";
import type { WaitContent, WaitView } from "./wait-view.ts";

/** Reload interval without scripts, while no challenge is open. */
const REFRESH_SECONDS = 4;

export function waitPage(view: WaitView): Html {
  const content = waitContent(view);
  return signInLayout({
    ...view,
    title: content.heading,
    scripts: [waitScript.path],
    refresh: refreshAfter(view),
    body: html`${section(view, content)}
<p class="notice hint" id="wait-offline" role="status" hidden>${view.messages.wait.offline}</p>
<p class="visually-hidden" id="wait-news" role="status"></p>`,
  });
}

/** The script replaces this section after a change. */
function section(view: WaitView, content: WaitContent): Html {
  return html`<section class="wait" id="wait" data-path="${linkAddress(view.path)}" data-shows="${displayKey(view.status)}" data-goes-on="${continuePath(view)}">
${failureNotice(view)}
<div class="title"><h1 id="wait-title" tabindex="-1">${content.heading}</h1>
${applicationHome(view.application)}</div>
${content.body}
</section>`;
}

/** After signing the page continues by itself. */
const continuePath = ({ status, path }: WaitView): string | undefined =>
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

/** An open challenge isn't refreshed before it expires: the user may be typing. */
function refreshAfter({ status, path }: WaitView): { seconds: number; path: string } | undefined {
  if (status.status === "pending") return { seconds: REFRESH_SECONDS, path };
  if (status.status === "challenge")
    return { seconds: (status.challenge?.expiresIn ?? REFRESH_SECONDS) + 1, path };
  return status.status === "signed" && status.continueUrl !== undefined
    ? { seconds: 0, path: `${path}/continue` }
    : undefined;
}
