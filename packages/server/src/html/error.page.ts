/** The error page. */
import { type TerminalAction, terminalPage, toAccount } from "./components/terminal-page.ts";
import { type Html, html, linkAddress } from "./html.ts";
import type { PageApplication, PageFrame, PageOrganisation } from "./layout.ts";
import type { Messages } from "./messages/messages.ts";

export type ErrorView = PageFrame & {
  /** Chooses the title and the advice where the caller gives none. */
  status: number;
  requestId: string;
  title?: string | undefined;
  /** A public description, e.g. an `OAuthError`'s. */
  message?: string | undefined;
  /** The stable code, for a text in the reader's language. */
  reason?: string | undefined;
  /** The protocol's code, for the application's developer. */
  code?: string | undefined;
  organisation?: PageOrganisation | undefined;
  /** The application that the user came from, when it is known and trusted. */
  application?: PageApplication | undefined;
};

function kindOf(status: number): keyof Messages["error"]["titles"] {
  // 405: somebody reloads the address of a form, where no page is.
  if (status === 404 || status === 405 || status === 410) return "notFound";
  if (status === 401 || status === 403) return "notPermitted";
  if (status === 429) return "tooMany";
  if (status === 503) return "unavailable";
  return status >= 500 ? "internal" : "badRequest";
}

function wayBack({ application, organisation, messages }: ErrorView): TerminalAction {
  const home = linkAddress(application?.homepageUri);
  if (organisation === undefined && application === undefined)
    return { id: "to-start", label: messages.frame.toStart, uri: "/" };
  if (application === undefined || home === undefined)
    return toAccount(organisation, messages.frame.toAccount);
  return { id: "to-application", label: messages.error.back({ application: application.name }), uri: home };
}

/** Errors that only developers cause have no translation: they are in English, and marked as such. */
function whatIsWrong({ reason, message, messages }: ErrorView): Html | undefined {
  const { reasons } = messages.error;
  if (reason !== undefined && isReason(reason, reasons)) return html`<p>${reasons[reason]}</p>`;
  return message === undefined ? undefined : html`<p lang="en">${message}</p>`;
}

const isReason = <T extends object>(name: string, reasons: T): name is Extract<keyof T, string> =>
  Object.hasOwn(reasons, name);

/** For every failure, and instead of a redirect to an untrusted URI. */
export function errorPage(view: ErrorView): Html {
  const text = view.messages.error;
  const kind = kindOf(view.status);
  const title = view.title ?? text.titles[kind];
  return terminalPage({
    ...view,
    outcome: "failure",
    title,
    text: html`${whatIsWrong(view)}
<p class="quiet">${text.advice[kind]}</p>`,
    action: wayBack(view),
    more: referenceOf(view),
  });
}

const referenceOf = ({ requestId, code, messages: { error } }: ErrorView): Html =>
  html`<dl class="reference"><dt>${error.reference}</dt><dd><code>${requestId}</code></dd>${code !== undefined && html`<dd><code>${code}</code></dd>`}</dl>`;
