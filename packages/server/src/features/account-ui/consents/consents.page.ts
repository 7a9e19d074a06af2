/** The consents page: agents and applications the user has allowed, and those the organisation allows. */

import { badge } from "../../../html/components/badge.ts";
import { card } from "../../../html/components/card.ts";
import { type ConsoleFrame, consoleLayout } from "../../../html/components/console-layout.ts";
import { emptyState } from "../../../html/components/empty-state.ts";
import { doubleSubmitGuard, hiddenFields } from "../../../html/components/form.ts";
import { dayWithin } from "../../../html/components/relative-time.ts";
import { type ScopeText, scopeList } from "../../../html/components/scope-list.ts";
import { toast } from "../../../html/components/toast.ts";
import { type Content, type Html, html, linkAddress } from "../../../html/html.ts";

/** What is done on behalf of the user. */
interface Use {
  readonly applicationName: string;
  /** Milliseconds; null: nothing is known to have been done. */
  readonly lastUsedAt: number | null;
  /** Names of resources, or their identifiers. */
  readonly resources: readonly string[];
  /** Names of those that act on tokens that they have exchanged. */
  readonly actors: readonly string[];
}

export interface ShownConsent extends Use {
  /** Milliseconds. */
  readonly grantedAt: number;
  readonly scopes: readonly ScopeText[];
  /** Asks first. */
  readonly revokeUri: string;
  /** Of a client that nobody has registered by hand: revoked at once, by a form of its own. */
  readonly agent?: { readonly host: string | undefined; readonly action: string } | undefined;
}

export type ConsentsView = ConsoleFrame & {
  isDone: boolean;
  csrf: string;
  /** Agents first, then newest first. */
  consents: readonly ShownConsent[];
  /** Used without the user's consent: allowed by the organisation. */
  others: readonly Use[];
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

function item(view: ConsentsView, consent: ShownConsent): Html {
  const { messages, organisation } = view;
  const text = messages.consents;
  const { applicationName: name, agent } = consent;
  return html`<li${agent && html` data-agent`}>
<div><span class="item-name"><bdi>${name}</bdi></span>${agent && html` ${badge("warn", text.unreviewed)}`}
${agent && html`<span class="quiet item-note">${agent.host === undefined ? text.agentBySelf(said(organisation)) : html`<bdi>${text.agentByAddress({ address: agent.host, ...said(organisation) })}</bdi>`}</span>`}
<span class="quiet item-note">${dayWithin(text.since({ at: consent.grantedAt }), consent.grantedAt, messages.format.day)}</span>
${useNotes(view, consent)}</div>
${revoke(view, consent)}
${scopeList(consent.scopes, messages)}
</li>
`;
}

const said = ({ name }: ConsoleFrame["organisation"]) => ({ organisation: name });

/** Nobody looks up an agent's page before it stops: one click, and the agent has to ask again. */
function revoke({ messages, csrf }: ConsentsView, consent: ShownConsent): Html {
  const text = messages.consents;
  const label = text.revokeOf({ application: consent.applicationName });
  if (!consent.agent)
    return html`<a class="button" href="${linkAddress(consent.revokeUri)}" aria-label="${label}">${text.revoke}</a>`;
  return html`<form method="post" action="${linkAddress(consent.agent.action)}">${hiddenFields([{ name: "csrf", value: csrf }])}${doubleSubmitGuard}
<button class="button" type="submit" data-revoke-agent aria-label="${label}">${text.revoke}</button></form>`;
}

function useNotes({ messages }: ConsoleFrame, { lastUsedAt, resources, actors }: Use): Content {
  const text = messages.consents;
  const { list } = messages.format;
  return [
    lastUsedAt !== null &&
      html`<span class="quiet item-note">${dayWithin(text.lastUsed({ at: lastUsedAt }), lastUsedAt, messages.format.day)}</span>
`,
    resources.length > 0 &&
      html`<span class="quiet item-note" data-resources><bdi>${text.resources({ names: list(resources) })}</bdi></span>
`,
    actors.length > 0 &&
      html`<span class="quiet item-note" data-actors><bdi>${text.actors({ names: list(actors) })}</bdi></span>
`,
  ];
}

function others(view: ConsentsView): Html {
  const text = view.messages.console.account.applications;
  return card({
    id: "allowed-by-organisation",
    title: text.byOrganisation,
    text: text.byOrganisationText({ organisation: view.organisation.name }),
    body: html`<ul class="items">
${view.others.map(
  (other) => html`<li><div><span class="item-name"><bdi>${other.applicationName}</bdi></span>
${useNotes(view, other)}</div></li>
`,
)}</ul>
`,
  });
}
