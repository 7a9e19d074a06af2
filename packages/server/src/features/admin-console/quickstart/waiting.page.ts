/** A live card: whether the application has been used yet. */
import type { ApplicationUse } from "../../../core/applications/use/first-use.ts";
import { livePiece } from "../../../html/components/live.ts";
import { buttonLink, moment, state } from "../../../html/components/parts.ts";
import { type Html, html, linkAddress } from "../../../html/html.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import type { SnippetSource } from "./snippet-source.ts";

export type WaitingView = {
  use: ApplicationUse | undefined;
  kind: SnippetSource["kind"];
  address: string;
  liveUri: string;
  /** The page around it, for browsers without scripts. */
  ownUri: string;
  inspectorUri: string;
  userUri(id: string): string;
  messages: Messages;
};

export function waitingCard(view: WaitingView): Html {
  const { use } = view;
  const says = use ? view.messages.console.quickstart.waiting.works : waitsFor(view);
  return html`<section class="card waiting" id="first-use"${livePiece(view.liveUri, [says])} aria-labelledby="first-use-title">
${use ? usedContent(view, use) : waitingContent(view)}</section>
`;
}

function waitsFor({ kind, messages }: WaitingView): string {
  const { waiting } = messages.console.quickstart;
  return kind === "service" ? waiting.token : waiting.signIn;
}

function waitingContent(view: WaitingView): Html {
  const { messages, kind, address, ownUri } = view;
  const { waiting } = messages.console.quickstart;
  const opens = kind === "web" || kind === "spa" || kind === "legacy";
  return html`<h2 id="first-use-title" class="waiting-title">${waitsFor(view)}</h2>
<p class="quiet">${kind === "service" ? waiting.tokenText : waiting.signInText}</p>
${
  opens &&
  html`<p><a id="open-application" href="${linkAddress(address)}" target="_blank" rel="noopener">${waiting.open({ address })}</a></p>
`
}<p><a id="waiting-again" href="${linkAddress(ownUri)}">${waiting.again}</a></p>
`;
}

function usedContent({ messages, inspectorUri, userUri }: WaitingView, use: ApplicationUse): Html {
  const { quickstart } = messages.console;
  const { waiting } = quickstart;
  const when = moment(use.at, messages.format.minute);
  const who =
    use.kind === "own-token"
      ? html`<p>${waiting.gotToken} ${when}</p>
`
      : html`<p>${use.email === null ? waiting.somebody : html`<a href="${linkAddress(userUri(use.userId))}"><bdi>${use.email}</bdi></a>`}<br><span class="quiet">${when}</span></p>
`;
  return html`<div class="bar"><h2 id="first-use-title">${waiting.works}</h2>${state("good", waiting.good)}</div>
${who}<div class="actions">${buttonLink({ id: "waiting-inspect", uri: inspectorUri, label: waiting.inspect })}</div>
`;
}
