import { type Html, html, linkAddress } from "../../html/html.ts";
import type { Messages } from "../../html/messages/messages.ts";

/** The pages of device administration, and which of them this is. */
export type ManageNav = {
  current: "list" | "policy";
  listUri: string;
  policyUri: string;
};

export function manageNav(nav: ManageNav, { devices: { nav: text } }: Messages): Html {
  const link = (page: ManageNav["current"], uri: string) =>
    html`<a href="${linkAddress(uri)}"${page === nav.current && html` aria-current="page"`}>${text[page]}</a>
`;
  return html`<nav class="links" aria-label="${text.label}">
${link("list", nav.listUri)}${link("policy", nav.policyUri)}</nav>
`;
}
