import { type Html, html, linkAddress } from "../../html/html.ts";
import type { Messages } from "../../html/messages/messages.ts";

/** The pages of an account, and which of them this is. */
export interface AccountNav {
  readonly current: "security" | "sessions" | "consents";
  readonly securityUri: string;
  readonly sessionsUri: string;
  readonly consentsUri: string;
}

/** The way between the pages of an account, above each of them. */
export function accountNav(nav: AccountNav, { accountNav: text }: Messages): Html {
  const link = (page: AccountNav["current"], uri: string, name: string) =>
    page === nav.current
      ? html`<a href="${linkAddress(uri)}" aria-current="page">${name}</a>
`
      : html`<a href="${linkAddress(uri)}">${name}</a>
`;
  return html`<nav class="links" aria-label="${text.label}">
${link("security", nav.securityUri, text.security)}${link("sessions", nav.sessionsUri, text.sessions)}${link("consents", nav.consentsUri, text.consents)}</nav>
`;
}
