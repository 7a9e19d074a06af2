import { type Html, html, linkAddress } from "../../html/html.ts";
import { contentLayout, type PageFrame, type PageOrganisation } from "../../html/layout.ts";
import { notice } from "../../html/notice.ts";
import { type ScopeText, scopeList } from "../../html/scope-list.ts";
import { type AccountNav, accountNav } from "./account-nav.ts";

export type ConsentsView = PageFrame & {
  organisation: PageOrganisation;
  nav: AccountNav;
  user: { email: string };
  /** One was just taken back. */
  isDone: boolean;
  /** The newest first. */
  consents: readonly {
    applicationName: string;
    /** Milliseconds. */
    grantedAt: number;
    scopes: readonly ScopeText[];
    /** The page that asks before it is taken back. */
    revokeUri: string;
  }[];
};

/** Every application that the user has allowed something, and the way to take it back. */
export function consentsPage(view: ConsentsView): Html {
  const text = view.messages.consents;
  return contentLayout({
    ...view,
    title: view.messages.frame.documentTitle(text.title, view.organisation.name),
    body: html`<div class="intro">${accountNav(view.nav, view.messages)}<h1>${text.heading}</h1>
<p class="quiet">${text.signedInAs} <bdi>${view.user.email}</bdi></p>
<p class="quiet">${text.summary(view.organisation.name)}</p>
${view.isDone && notice("hint", "consents-done", text.revoked)}</div>
<section class="card" aria-labelledby="consents-title">
<h2 id="consents-title">${text.listHeading}</h2>
${
  view.consents.length === 0
    ? html`<p class="quiet">${text.none}</p>
`
    : html`<ul class="items">
${view.consents.map((consent) => item(view, consent))}</ul>
`
}</section>`,
  });
}

function item({ messages }: ConsentsView, consent: ConsentsView["consents"][number]): Html {
  const text = messages.consents;
  const { applicationName: name } = consent;
  return html`<li>
<div><span class="item-name"><bdi>${name}</bdi></span>
<span class="quiet item-note">${text.since(consent.grantedAt)}</span>
</div>
<a href="${linkAddress(consent.revokeUri)}" aria-label="${text.revokeOf(name)}">${text.revoke}</a>
${scopeList(consent.scopes, messages)}
</li>
`;
}
