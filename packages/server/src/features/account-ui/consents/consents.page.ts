/** The consents page: applications the user has allowed, and those the organisation allows. */

import { card } from "../../../html/components/card.ts";
import { type ConsoleFrame, consoleLayout } from "../../../html/components/console-layout.ts";
import { emptyState } from "../../../html/components/empty-state.ts";
import { dayWithin } from "../../../html/components/relative-time.ts";
import { type ScopeText, scopeList } from "../../../html/components/scope-list.ts";
import { toast } from "../../../html/components/toast.ts";
import { type Html, html, linkAddress } from "../../../html/html.ts";

export type ConsentsView = ConsoleFrame & {
  isDone: boolean;
  /** Newest first. */
  consents: readonly {
    applicationName: string;
    /** Milliseconds. */
    grantedAt: number;
    scopes: readonly ScopeText[];
    revokeUri: string;
  }[];
  /** Used without the user's consent: allowed by the organisation. */
  others: readonly { applicationName: string; lastUsedAt: number }[];
};

export function consentsPage(view: ConsentsView): Html {
  const text = view.messages.consents;
  return consoleLayout({
    ...view,
    title: text.title,
    summary: text.summary({ organisation: view.organisation.name }),
    notice: view.isDone ? toast(text.revoked, view, { id: "consents-done" }) : undefined,
    body: html`<div class="cards">
<section class="card" id="consents" aria-label="${text.heading}">
${
  view.consents.length === 0
    ? emptyState({ icon: "application", title: text.none, text: text.noneText })
    : html`<ul class="items">
${view.consents.map((consent) => item(view, consent))}</ul>
`
}</section>
${view.others.length > 0 && others(view)}</div>
`,
  });
}

function item({ messages }: ConsentsView, consent: ConsentsView["consents"][number]): Html {
  const text = messages.consents;
  const { applicationName: name } = consent;
  return html`<li>
<div><span class="item-name"><bdi>${name}</bdi></span>
<span class="quiet item-note">${dayWithin(text.since({ at: consent.grantedAt }), consent.grantedAt, messages.format.day)}</span>
</div>
<a href="${linkAddress(consent.revokeUri)}" aria-label="${text.revokeOf({ application: name })}">${text.revoke}</a>
${scopeList(consent.scopes, messages)}
</li>
`;
}

function others({ messages, organisation, others: list }: ConsentsView): Html {
  const text = messages.console.account.applications;
  return card({
    id: "allowed-by-organisation",
    title: text.byOrganisation,
    text: text.byOrganisationText({ organisation: organisation.name }),
    body: html`<ul class="items">
${list.map(
  ({
    applicationName,
    lastUsedAt,
  }) => html`<li><div><span class="item-name"><bdi>${applicationName}</bdi></span>
<span class="quiet item-note">${dayWithin(text.used({ at: lastUsedAt }), lastUsedAt, messages.format.day)}</span></div></li>
`,
)}</ul>
`,
  });
}
