/** A live panel: whether the application has been used yet. */
import type { ApplicationUse } from "../../../core/applications/application-use.store.ts";
import { buttonLink } from "../../../html/components/button.ts";
import { livePanel } from "../../../html/components/live-panel.ts";
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

export function waitingPanel(view: WaitingView): Html {
  const { use } = view;
  const id = "first-use";
  const uri = view.consoleUri(`/quickstart/${view.applicationId}/waiting`);
  if (!use) return livePanel({ id, uri, title: waitsFor(view), state: "waiting", ...waitingContent(view) });
  const { works } = view.messages.console.quickstart.waiting;
  return livePanel({ id, uri, title: works, state: "done", body: usedContent(view, use) });
}

function waitsFor({ kind, messages }: WaitingView): string {
  const { waiting } = messages.console.quickstart;
  return kind === "service" ? waiting.token : waiting.signIn;
}

function waitingContent(view: WaitingView): { text: string; body: Html } {
  const { messages, kind, address } = view;
  const { waiting } = messages.console.quickstart;
  // The page around it, for browsers without scripts.
  const again = {
    id: "waiting-again",
    uri: view.consoleUri(`/quickstart/${view.applicationId}`),
    label: waiting.again,
  };
  const opens = kind === "web" || kind === "spa" || kind === "legacy";
  return {
    text: kind === "service" ? waiting.tokenText : waiting.signInText,
    body: html`<div class="actions">${buttonLink(again)}</div>
${
  opens &&
  html`<p><a id="open-application" href="${linkAddress(address)}" target="_blank" rel="noopener">${waiting.open({ address })}</a></p>
`
}`,
  };
}

function usedContent({ messages, consoleUri }: WaitingView, use: ApplicationUse): Html {
  const { waiting } = messages.console.quickstart;
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
  return html`${who}<div class="actions">${buttonLink(inspect)}</div>
`;
}
