/** The end of a test sign-in: the result is read where the test was started, and this window has nothing more to offer. */
import type { FailureReason } from "../../../core/connections/sign-in/failure.ts";
import { type Html, html, linkAddress } from "../../../html/html.ts";
import { type PageFrame, type PageOrganisation, signInLayout } from "../../../html/layout.ts";

export type ConnectionTestEnd = "done" | "expired" | "rate-limited" | FailureReason;

export type ConnectionTestView = PageFrame & {
  readonly organisation: PageOrganisation;
  readonly connection: { readonly name: string };
  readonly end: ConnectionTestEnd;
  /** Of an administrator of the console who is signed in with this browser. */
  readonly resultUri?: string | undefined;
};

export function connectionTestPage(view: ConnectionTestView): Html {
  const { test } = view.messages.connections;
  const title = view.end === "done" ? test.done : test.failed;
  const problem = problemOf(view);
  return signInLayout({
    ...view,
    title,
    body: html`<div class="title"><h1 id="connection-test">${title}</h1></div>
${problem !== undefined && html`<p role="alert">${problem}</p>`}
<p id="connection-test-close">${test.close}</p>
${view.resultUri !== undefined && html`<a class="button primary" id="connection-test-show" href="${linkAddress(view.resultUri)}">${test.toResult}</a>`}`,
  });
}

function problemOf({
  end,
  connection,
  organisation,
  messages: { connections, signIn },
}: ConnectionTestView): string | undefined {
  const { failures, test } = connections;
  if (end === "done") return undefined;
  if (end === "expired") return test.expired;
  if (end === "rate-limited") return signIn.rateLimitedSoon;
  return failures[end]({ connection: connection.name, organisation: organisation.name });
}
