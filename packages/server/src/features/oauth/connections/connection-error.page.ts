/** Says which identity provider could not be used, why, and what is left. */
import type { FailureReason } from "../../../core/connections/sign-in/failure.ts";
import { type Html, html, linkAddress } from "../../../html/html.ts";
import { type PageFrame, type PageOrganisation, signInLayout } from "../../../html/layout.ts";

export type ConnectionErrorView = PageFrame & {
  readonly organisation: PageOrganisation;
  readonly connection: { readonly name: string };
  readonly reason: FailureReason;
  readonly reference: string;
  /** Undefined for a connection that is disabled. */
  readonly retryUri: string | undefined;
  readonly otherUri: string;
};

export function connectionErrorPage(view: ConnectionErrorView): Html {
  const text = view.messages.connections;
  const names = { connection: view.connection.name, organisation: view.organisation.name };
  const title = text.failed(names);
  const link = (id: string, style: string, uri: string | undefined, label: string) =>
    uri !== undefined && html`<a class="button${style}" id="${id}" href="${linkAddress(uri)}">${label}</a>`;
  return signInLayout({
    ...view,
    title,
    body: html`<div class="title"><h1 id="connection-error">${title}</h1></div>
<p role="alert">${text.failures[view.reason](names)}</p>
${link("connection-retry", " primary", view.retryUri, text.retry)}
${link("connection-other", "", view.otherUri, text.other)}
<dl class="reference"><dt>${view.messages.error.reference}</dt><dd><code>${view.reference}</code></dd></dl>`,
  });
}
