/**
 * An open challenge on the wait page (sovereign-signing.md §5). The agent's text is shown as the organisation's message,
 * apart from Signet's own; what a passkey signs is passed on unchanged.
 */
import { type HiddenField, hiddenFields } from "../../../html/components/form.ts";
import { type Content, type Html, html, linkAddress } from "../../../html/html.ts";
import type { PageApplication, PageFrame, PageOrganisation } from "../../../html/layout.ts";
import type { ShownChallenge, WaitStatus } from "./wait-status.ts";

export function challengeContent(view: WaitView): WaitContent | undefined {
  const { challenge } = view.status;
  switch (challenge?.type) {
    case "number_match":
      return numberMatch(view, challenge);
    case "webauthn":
      return passkey(view, challenge);
    case "pin":
      return pin(view, challenge);
    case "confirm":
      return confirmation(view, challenge);
    default:
      return undefined;
  }
}

/** The user enters the number in the agent's own channel: a dishonest service gains nothing. */
function numberMatch(view: WaitView, challenge: ShownChallenge): WaitContent {
  const text = view.messages.wait;
  return {
    heading: text.number.heading,
    body: html`<p class="match"><span class="visually-hidden">${text.number.label} </span><strong id="match-number">${challenge.display}</strong></p>
<p>${text.number.explanation({ organisation: view.organisation.name })}</p>
${message(view, challenge)}
${answerForm(view, { button: text.number.submit, value: "done" })}`,
  };
}

function pin(view: WaitView, challenge: ShownChallenge): WaitContent {
  const text = view.messages.wait;
  const field = html`<div class="field">
<label for="answer">${text.pin.label}</label>
<input id="answer" name="answer" autocomplete="one-time-code" autocapitalize="off" spellcheck="false" maxlength="200" required autofocus aria-describedby="pin-explanation">
</div>`;
  return {
    heading: text.pin.heading({ organisation: view.organisation.name }),
    body: html`<p id="pin-explanation">${text.pin.explanation}</p>
${message(view, challenge)}
${answerForm(view, { field, button: text.pin.submit })}`,
  };
}

function confirmation(view: WaitView, challenge: ShownChallenge): WaitContent {
  const text = view.messages.wait;
  const quote = message(view, challenge, challenge.display);
  const choices = choiceButtons(challenge);
  if (choices)
    return {
      heading: text.question({ organisation: view.organisation.name }),
      body: html`${quote}
${answerForm(view, choices)}`,
    };
  return {
    heading: text.confirm.heading,
    body: html`${quote}
<p>${text.confirm.explanation}</p>
${answerForm(view, { button: text.confirm.submit, value: "confirmed" })}`,
  };
}

/** One button for each answer the agent offers. */
function choiceButtons({ options }: ShownChallenge): Answer | undefined {
  if (options === undefined || options.length === 0) return undefined;
  const field = html`<div class="stack">${options.map(
    (option, index) =>
      html`<button class="button" id="respond-option-${index + 1}" type="submit" name="answer" value="${option}"><bdi>${option}</bdi></button>\n`,
  )}</div>`;
  return { field };
}

function passkey(view: WaitView, challenge: ShownChallenge): WaitContent {
  const text = view.messages.wait;
  const field = html`<input type="hidden" name="answer" value="">
<p class="failed" role="alert" data-passkey-failed hidden>${text.passkey.failed}</p>
<noscript><p class="quiet">${text.passkey.needsScript}</p></noscript>`;
  return {
    heading: text.passkey.heading,
    body: html`<p>${text.passkey.explanation}</p>
${message(view, challenge)}
${answerForm(view, { field, button: text.passkey.submit, options: JSON.stringify(challenge.publicKey ?? {}) })}`,
  };
}

type Answer = {
  field?: Html;
  /** The label of the submit button; absent when the field has its own buttons. */
  button?: string;
  value?: string;
  /** Passkey request options as JSON: the script shows the button. */
  options?: string;
};

function answerForm(view: WaitView, { field, button, value, options }: Answer): Html {
  const text = view.messages.wait;
  const sends: Content = value !== undefined && html` name="answer" value="${value}"`;
  const submit =
    button !== undefined &&
    html`<button class="button primary" id="respond-submit" type="submit"${sends}${options !== undefined && html` data-passkey-button hidden`}>${button}</button>`;
  return html`<form method="post" action="${linkAddress(`${view.path}/respond`)}"${options !== undefined && html` data-passkey-options="${options}"`}>
${hiddenFields(answerFields(view))}
${field}
${timeLeft(view)}
<div class="choices">
${submit}
<button class="button" id="respond-cancel" type="submit" name="cancel" value="true" formnovalidate>${text.cancel}</button>
</div>
</form>`;
}

function message({ messages, organisation }: WaitView, { prompt }: ShownChallenge, display?: string): Html {
  return html`<figure class="message">
<figcaption>${messages.wait.message({ organisation: organisation.name })}</figcaption>
<blockquote><p>${prompt}</p>
${display !== undefined && html`<p class="transaction">${display}</p>`}</blockquote>
</figure>`;
}

/** A script counts down; without it the initial value stays. */
function timeLeft({ messages, status }: WaitView): Html {
  const seconds = status.challenge?.expiresIn ?? 0;
  return html`<p class="quiet after">${messages.wait.timeLeft} <span class="left" data-seconds-left="${seconds}">${clockText(seconds)}</span></p>`;
}

const clockText = (seconds: number): string =>
  `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;

export type WaitView = PageFrame & {
  organisation: PageOrganisation;
  application: PageApplication;
  status: WaitStatus;
  /** The client polls: there is no application in this browser to return to. */
  polledFor: "device" | "request" | undefined;
  /** `/oauth/{org}/sovereign/wait/{requestId}`. */
  path: string;
  csrf: string;
  error?: WaitFailure | undefined;
};

export type WaitFailure = "stale" | "page-too-old";

export type WaitContent = { heading: string; body: Html };

export function answerFields({ csrf, status }: Pick<WaitView, "csrf" | "status">): HiddenField[] {
  const { challenge } = status;
  return [
    { name: "csrf", value: csrf },
    ...(challenge ? [{ name: "challengeId", value: challenge.challengeId }] : []),
  ];
}
