/** A live card: whether the application has been used yet. */
import type { ApplicationUse } from "../../../core/applications/application-use.store.ts";
import { badge } from "../../../html/components/badge.ts";
import { buttonLink } from "../../../html/components/button.ts";
import { livePiece } from "../../../html/components/live.ts";
import { relativeTime } from "../../../html/components/relative-time.ts";
import { type Html, html, linkAddress } from "../../../html/html.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import type { SnippetSource } from "./snippet-source.ts";

export type WaitingView = {
  use: ApplicationUse | undefined;
  kind: SnippetSource["kind"];
  address: string;
  applicationId: string;
  consoleUri(rest: string): string;
  messages: Messages;
};

export function waitingCard(view: WaitingView): Html {
  const { use } = view;
  const says = use ? view.messages.console.quickstart.waiting.works : waitsFor(view);
  const liveUri = view.consoleUri(`/quickstart/${view.applicationId}/waiting`);
  return html`<section class="card waiting" id="first-use"${livePiece(liveUri, [says])} aria-labelledby="first-use-title">
${use ? usedContent(view, use) : waitingContent(view)}</section>
`;
}

function waitsFor({ kind, messages }: WaitingView): string {
  const { waiting } = messages.console.quickstart;
  return kind === "service" ? waiting.token : waiting.signIn;
}

function waitingContent(view: WaitingView): Html {
  const { messages, kind, address } = view;
  const { waiting } = messages.console.quickstart;
  // The page around it, for browsers without scripts.
  const pageUri = view.consoleUri(`/quickstart/${view.applicationId}`);
  const opens = kind === "web" || kind === "spa" || kind === "legacy";
  return html`<h2 id="first-use-title" class="waiting-title">${waitsFor(view)}</h2>
<p class="quiet">${kind === "service" ? waiting.tokenText : waiting.signInText}</p>
${
  opens &&
  html`<p><a id="open-application" href="${linkAddress(address)}" target="_blank" rel="noopener">${waiting.open({ address })}</a></p>
`
}<p><a id="waiting-again" href="${linkAddress(pageUri)}">${waiting.again}</a></p>
`;
}

function usedContent({ messages, consoleUri }: WaitingView, use: ApplicationUse): Html {
  const { quickstart } = messages.console;
  const { waiting } = quickstart;
  const inspect = {
    id: "waiting-inspect",
    uri: consoleUri("/quickstart/token-inspector"),
    label: waiting.inspect,
  };
  const when = relativeTime(use.at, messages.format.minute);
  const who =
    use.kind === "own-token"
      ? html`<p>${waiting.gotToken} ${when}</p>
`
      : html`<p>${use.email === null ? waiting.somebody : html`<a href="${linkAddress(consoleUri(`/users/${use.userId}`))}"><bdi>${use.email}</bdi></a>`}<br><span class="quiet">${when}</span></p>
`;
  return html`<div class="bar"><h2 id="first-use-title">${waiting.works}</h2>${badge("good", waiting.good)}</div>
${who}<div class="actions">${buttonLink(inspect)}</div>
`;
}
