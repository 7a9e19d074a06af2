/** The page where a user waits for an agent, answers its challenge, and sees the outcome. */

import { applicationHome } from "../../../html/components/avatar.ts";
import { banner } from "../../../html/components/banner.ts";
import { hiddenFields } from "../../../html/components/form.ts";
import { type Content, type Html, html, linkAddress } from "../../../html/html.ts";
import { signInLayout } from "../../../html/layout.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { waitScript } from "../../../html/scripts.ts";
import { answerFields, challengeContent, type WaitContent, type WaitView } from "./wait-challenge.ts";
import { displayKey } from "./wait-status.ts";

/** Reload interval without scripts, while no challenge is open. */
const REFRESH_SECONDS = 4;

export function waitPage(view: WaitView): Html {
  const { messages } = view;
  const content = waitContent(view);
  return signInLayout({
    ...view,
    title: content.heading,
    scripts: [waitScript.path],
    refresh: refreshAfter(view),
    body: html`${section(view, content)}
<p class="notice hint" id="wait-offline" role="status" hidden>${messages.wait.offline}</p>
<p class="visually-hidden" id="wait-news" role="status"></p>`,
  });
}

/** The script replaces this section after a change. */
function section(view: WaitView, content: WaitContent): Html {
  return html`<section class="wait" id="wait" data-path="${linkAddress(view.path)}" data-shows="${displayKey(view.status)}" data-goes-on="${linkAddress(continuePath(view))}">
${failureNotice(view)}
<div class="title"><h1 id="wait-title" tabindex="-1">${content.heading}</h1>
${applicationHome(view.application)}</div>
${content.body}
</section>`;
}

/** After signing the page continues by itself. */
const continuePath = ({ status, path }: WaitView): string | undefined =>
  status.status === "signed" && status.continueUrl !== undefined ? `${path}/continue` : undefined;

function failureNotice({ error, messages }: WaitView): Html | undefined {
  const text = messages.wait;
  if (error === undefined) return undefined;
  return error === "stale"
    ? banner("error", "wait-notice", text.stale, text.staleText)
    : banner("error", "wait-notice", text.pageTooOld, text.pageTooOldText);
}

/** An open challenge isn't refreshed before it expires: the user may be typing. */
function refreshAfter(view: WaitView): { seconds: number; path: string } | undefined {
  const { status, path } = view;
  if (status.status === "pending") return { seconds: REFRESH_SECONDS, path };
  if (status.status === "challenge")
    return { seconds: (status.challenge?.expiresIn ?? REFRESH_SECONDS) + 1, path };
  const next = continuePath(view);
  return next === undefined ? undefined : { seconds: 0, path: next };
}

function waitContent(view: WaitView): WaitContent {
  switch (view.status.status) {
    case "challenge":
      return challengeContent(view) ?? waiting(view);
    case "signed":
      return signed(view);
    case "failed":
    case "expired":
      return ended(view);
    default:
      return waiting(view);
  }
}

function waiting(view: WaitView): WaitContent {
  const { messages, organisation, application, status } = view;
  const text = messages.wait;
  const { name } = organisation;
  const patience = (sentence: string, before?: Content) => html`${before}
<div class="patience"><span class="spinner" aria-hidden="true"></span><p>${sentence}</p></div>
${refreshLink(view)}${cancelForm(view)}`;
  switch (status.detail) {
    case "no_agent":
      return {
        heading: text.noAgent({ organisation: name }),
        body: patience(text.noAgentText({ organisation: name, seconds: status.expiresIn })),
      };
    case "answered":
      return { heading: text.answered, body: patience(text.answeredText({ organisation: name })) };
    default: {
      const isWithdrawn = status.detail === "withdrawn";
      const before = isWithdrawn && banner("hint", "wait-withdrawn", text.withdrawn, text.withdrawnText);
      return {
        heading: text.heading({ organisation: name }),
        body: patience(text.explanation({ organisation: name, application: application.name }), before),
      };
    }
  }
}

/** Without scripts the page refreshes by itself; the link is for the impatient. */
const refreshLink = ({ path, messages }: WaitView): Html =>
  html`<noscript><p><a class="alone" href="${linkAddress(path)}">${messages.wait.look}</a></p></noscript>\n`;

function cancelForm(view: WaitView): Html {
  return html`<form method="post" action="${linkAddress(`${view.path}/respond`)}">
${hiddenFields(answerFields(view))}
<button class="button" id="respond-cancel" type="submit" name="cancel" value="true">${view.messages.wait.cancel}</button>
</form>`;
}

function signed(view: WaitView): WaitContent {
  const { messages, organisation, application, polledFor } = view;
  const text = messages.wait;
  if (polledFor === "request") {
    const { approved, approvedHeading } = messages.approvalRequest;
    const body = html`<p id="request-done">${approved({ application: application.name })}</p>`;
    return { heading: approvedHeading, body };
  }
  if (polledFor === "device") {
    const body = html`<p id="device-done">${messages.device.allowed({ application: application.name })}</p>`;
    return { heading: messages.device.allowedHeading, body };
  }
  if (view.status.continueUrl === undefined) return alreadyContinued(view);
  const body = html`<div class="patience"><span class="spinner" aria-hidden="true"></span><p>${text.signedText({ organisation: organisation.name })}</p></div>
${continueLink(view, text.goOn({ application: application.name }))}`;
  return { heading: text.signed({ application: application.name }), body };
}

/** The browser has continued already: this is a second visit or a second tab. */
function alreadyContinued({ messages, application }: WaitView): WaitContent {
  const text = messages.wait;
  const home = linkAddress(application.homepageUri);
  return {
    heading: text.gone,
    body: html`<p>${text.goneText({ application: application.name })}</p>
${home !== undefined && html`<a class="button" href="${home}">${messages.error.back({ application: application.name })}</a>`}`,
  };
}

function ended(view: WaitView): WaitContent {
  const { polledFor, messages, application, status } = view;
  if (polledFor === undefined && status.continueUrl === undefined) return alreadyContinued(view);
  const { heading, sentence, isTechnical = false } = describeEnding(view);
  const text = messages.wait;
  const back =
    polledFor === undefined
      ? continueLink(view, text.back({ application: application.name }))
      : html`<p>${polledFor === "device" ? text.backOnDevice : messages.approvalRequest.backThere}</p>`;
  return {
    heading,
    body: html`<p>${sentence}</p>
${back}
${isTechnical && reference(messages, status.requestId)}`,
  };
}

const continueLink = ({ path }: WaitView, words: string): Html =>
  html`<a class="button primary" id="wait-continue" href="${linkAddress(`${path}/continue`)}">${words}</a>`;

const reference = (messages: Messages, requestId: string): Html =>
  html`<dl class="reference"><dt>${messages.error.reference}</dt><dd><code>${requestId}</code></dd></dl>`;

type Ending = { heading: string; sentence: string; isTechnical?: boolean };

function describeEnding({ messages, organisation: { name }, status }: WaitView): Ending {
  const text = messages.wait;
  const by = { organisation: name };
  if (status.status === "expired") return { heading: text.expired, sentence: text.expiredText(by) };
  switch (status.reason) {
    case "policy_denied":
      return { heading: text.refused(by), sentence: text.refusedText(by) };
    case "user_denied":
      return { heading: text.cancelled, sentence: text.cancelledText(by) };
    case "challenge_failed":
      return { heading: text.wrongAnswer, sentence: text.wrongAnswerText };
    case "challenge_timeout":
      return { heading: text.noAnswer, sentence: text.noAnswerText };
    case "step_up_required":
      return { heading: text.stepUp(by), sentence: text.stepUpText };
    default:
      return { heading: text.technical(by), sentence: text.technicalText(by), isTechnical: true };
  }
}
