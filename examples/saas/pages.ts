/** The pages of the SaaS. */
import type { Principal } from "@signet/client-sdk";
import { facts, type Html, html } from "../shared/page.ts";
import type { Tenant } from "./tenants.ts";

export const rolesOf = ({ claims }: Principal): readonly unknown[] => [claims["roles"] ?? []].flat();

const signInTo = (id: string) => `/signet/login?organisation=${id}`;
const signOut = html`<form method="post" action="/signet/logout"><button class="button">Sign out</button></form>`;

export const homePage = html`<h1>Plan together</h1><p class="lead">For teams. Your organisation signs you in.</p>
<p class="actions"><a class="button primary" href="/signet/login">Sign in</a></p>`;

/** @param command with which the tenant's administrator grants the scopes of API v1 */
export const notSetUpPage = (command: string) => html`<h1>Not set up yet</h1>
<p class="lead">An administrator of your organisation has to give this application access to its users and connections.</p>
<p><code>${command}</code></p><div class="actions">${signOut}</div>`;

const inviteForm = html`<section><h2>Invite somebody</h2><form method="post" action="/invitations">
<p><label for="email">Email address</label> <input id="email" name="email" type="email" required>
<button class="button">Invite</button></p></form></section>`;

/** @param known the tenants that know the same person */
export function tenantPage(
  principal: Principal,
  { id, name, people }: Tenant,
  known: readonly Tenant[],
): Html {
  const isOwner = rolesOf(principal).includes("owner");
  const others = known.filter((tenant) => tenant.id !== id);
  return html`<h1>${name}</h1><p class="lead">Signed in as ${principal.user?.email}.</p>
<section><h2>You</h2>${facts({ Roles: rolesOf(principal).join(", ") || "none", Organisation: id })}</section>
<section><h2>People</h2><ul id="people">${[...people.values()].map((email) => html`<li>${email}</li>`)}</ul></section>
<section><h2>Switch to</h2><ul>${others.map((tenant) => html`<li><a href="${signInTo(tenant.id)}">${tenant.name}</a></li>`)}
<li><a href="/signet/login">Another organisation</a></li></ul></section>
${isOwner && inviteForm}
<div class="actions">${isOwner && html`<form method="post" action="/sso"><button class="button">SSO settings</button></form>`}${signOut}</div>`;
}
