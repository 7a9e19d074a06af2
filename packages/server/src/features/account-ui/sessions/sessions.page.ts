/** The sessions page: every browser that is signed in to the account. */

import { badge } from "../../../html/components/badge.ts";
import { card } from "../../../html/components/card.ts";
import { type ConsoleFrame, consoleLayout } from "../../../html/components/console-layout.ts";
import { dayWithin, timeWithin } from "../../../html/components/relative-time.ts";
import { toast } from "../../../html/components/toast.ts";
import { type Html, html, linkAddress } from "../../../html/html.ts";

export type SessionsView = ConsoleFrame & {
  isDone: boolean;
  /** Most recently used first; never empty, as it includes the current session. */
  sessions: readonly {
    /** Undefined for an unknown browser. */
    name: string | undefined;
    isCurrent: boolean;
    /** To a key of the browser's machine. */
    isBound: boolean;
    /** Ends with a device of the organisation. */
    isOnDevice: boolean;
    /** Milliseconds. */
    signedInAt: number;
    lastUsedAt: number;
    address: string;
    applications: readonly string[];
    endUri: string;
  }[];
  everywhereUri: string;
};

export function sessionsPage(view: SessionsView): Html {
  const text = view.messages.sessions;
  return consoleLayout({
    ...view,
    title: text.title,
    summary: text.summary({ organisation: view.organisation.name }),
    notice: view.isDone ? toast(text.ended, view, { id: "sessions-done" }) : undefined,
    body: card({
      id: "sessions",
      title: text.listHeading,
      actions: html`<div class="actions">
<a class="button" id="sessions-end-all" href="${linkAddress(view.everywhereUri)}">${text.everywhere}</a>
</div>
`,
      body: html`<ul class="items">
${view.sessions.map((session) => item(view, session))}</ul>
`,
    }),
  });
}

function item({ messages }: SessionsView, session: SessionsView["sessions"][number]): Html {
  const text = messages.sessions;
  const name = session.name ?? text.unknown;
  return html`<li>
<div><span class="item-name">${name}${session.isCurrent && html` ${badge("good", text.thisOne)}`}</span>
<span class="quiet item-note">${timeWithin(text.used({ at: session.lastUsedAt }), session.lastUsedAt, messages.format.minute)}</span>
<span class="quiet item-note">${dayWithin(text.since({ at: session.signedInAt, address: session.address }), session.signedInAt, messages.format.day)}</span>
${
  session.isBound &&
  html`<span class="quiet item-note">${text.bound}</span>
`
}${
  session.isOnDevice &&
  html`<span class="quiet item-note">${text.onDevice}</span>
`
}${
  session.applications.length > 0 &&
  html`<span class="quiet item-note"><bdi>${text.applications({ names: messages.format.list(session.applications) })}</bdi></span>
`
}</div>
<a href="${linkAddress(session.endUri)}" aria-label="${text.endOf({ browser: name })}">${text.end}</a>
</li>
`;
}
