/**
 * Which acts demand a sign-in of the last ten minutes: those on secrets, keys, roles, deletion and policies. What ends
 * access, and what can be taken back, doesn't. Decided here alone, by the address of the form; an address that isn't
 * here demands it.
 */
import type { FastifyRequest } from "fastify";

type Values = ReadonlyMap<string, string>;
type Demand = "recent" | "any" | ((values: Values) => "recent" | "any");

/** A new administrator is a role, a generated password is a secret; an invitation of a standard user is neither. */
const newUserDemand = (values: Values): "recent" | "any" =>
  values.get("role") === "Administrator" || (values.has("how") && values.get("how") !== "mail")
    ? "recent"
    : "any";

/** Of acts on ticked rows; the others among them are deletion, roles and what devices authenticate with. */
const bulkDemand = (values: Values): "recent" | "any" =>
  ["disable", "enable", "signOut", "invite", "withdraw"].includes(values.get("act") ?? "") ? "any" : "recent";

const consoleDemands: Readonly<Record<string, Demand>> = {
  "applications/new": "recent",
  "applications/bulk": bulkDemand,
  // Name, description, logo and home page.
  "applications/:id": "any",
  // Where codes go, how the application authenticates, who consents: its policy.
  "applications/:id/urls": "recent",
  "applications/:id/credentials": "recent",
  "applications/:id/tokens": "recent",
  "applications/:id/access": "recent",
  "applications/:id/advanced": "recent",
  "applications/:id/enable": "any",
  "applications/:id/disable": "any",
  "applications/:id/delete": "recent",
  "applications/:id/secrets/new": "recent",
  "applications/:id/secrets/:secret/end": "recent",
  "applications/:id/groups": "any",
  "applications/:id/groups/:group/take-off": "any",
  "applications/:id/users": "any",
  "applications/:id/users/:user/take-off": "any",
  "consents/new": "recent",
  "shared-applications/:id/allow": "recent",
  "shared-applications/:id/withdraw": "any",
  "consents/bulk": "any",
  "consents/:id/revoke": "any",
  "preauthorizations/new": "recent",
  "preauthorizations/bulk": "recent",
  "preauthorizations/:id/delete": "recent",
  // What holders may do elsewhere.
  "applications/:id/roles/new": "recent",
  "applications/:id/roles/bulk": "recent",
  "roles/new": "recent",
  "roles/bulk": "recent",
  "roles/:id/edit": "recent",
  "roles/:id/delete": "recent",
  "roles/:id/assignments": "recent",
  "roles/:id/assignments/:assignment/remove": "any",
  // Who provisions users, and who says who signs in.
  "connections/new": "recent",
  "connections/bulk": (values) => (values.get("act") === "disable" ? "any" : "recent"),
  "connections/:id/settings": "recent",
  // Whoever is in a group has its roles.
  "connections/:id/groups": "recent",
  "connections/:id/test": "any",
  "connections/:id/tokens/new": "recent",
  "connections/:id/tokens/:token/end": "recent",
  "connections/:id/enable": "recent",
  "connections/:id/disable": "any",
  "connections/:id/delete": "recent",
  "domains/new": "any",
  // Whose provider speaks for its users.
  "domains/:id/settings": "recent",
  "domains/:id/verify": "any",
  "domains/:id/delete": "recent",
  // Who comes in past the provider.
  "break-glass/grant": "recent",
  "break-glass/:id/withdraw": "recent",
  "ledger/search": "any",
  "ledger/settings": "recent",
  "ledger/witnesses/new": "recent",
  "ledger/witnesses/:id/remove": "recent",
  "portal/close": "any",
  // Members get the group's roles.
  "groups/new": "recent",
  "groups/bulk": "recent",
  "groups/:id/edit": "recent",
  "groups/:id/delete": "recent",
  "groups/:id/members": "recent",
  "groups/:id/members/import": "recent",
  "groups/:id/members/bulk": "any",
  "groups/:id/roles/add/bulk": "recent",
  "groups/:id/members/:member/remove": "any",
  "mail-templates/:template": "any",
  "mail-templates/:template/text": "any",
  "mail-templates/:template/html": "any",
  "pools/new": "recent",
  "pools/bulk": bulkDemand,
  "pools/:pool/agents/bulk": "recent",
  "pools/:pool/settings": "recent",
  "pools/:pool/enable": "any",
  "pools/:pool/disable": "any",
  "pools/:pool/delete": "recent",
  "pools/:pool/agents/new": "recent",
  "pools/:pool/agents/:agent/keys": "recent",
  "pools/:pool/agents/:agent/keys/:kid/retire": "recent",
  "pools/:pool/agents/:agent/compromise": "recent",
  "pools/:pool/agents/:agent/deactivate": "recent",
  "quickstart/new": "recent",
  "quickstart/token-inspector": "any",
  "saved-filters/new": "any",
  "saved-filters/:id/delete": "any",
  // What tokens are for, and whom agents may not be.
  "resources/new": "recent",
  "resources/:id/settings": "recent",
  "resources/:id/delete": "recent",
  // Who gets tokens without a secret of ours.
  "trusts/new": "recent",
  "trusts/:id/settings": "recent",
  "trusts/:id/delete": "recent",
  "token-exchange/new": "recent",
  "token-exchange/:id/settings": "recent",
  "token-exchange/:id/delete": "recent",
  "client-policy": "recent",
  "initial-access-tokens/new": "recent",
  "initial-access-tokens/:id/settings": "recent",
  "initial-access-tokens/:id/delete": "recent",
  "client-authorities/new": "recent",
  "client-authorities/:id/settings": "recent",
  "client-authorities/:id/delete": "recent",
  // What users are asked for.
  "authorization-detail-types/new": "recent",
  "authorization-detail-types/:id/settings": "recent",
  "authorization-detail-types/:id/delete": "recent",
  // What tokens say about users.
  "scopes/new": "recent",
  "scopes/bulk": "recent",
  "scopes/:id/edit": "recent",
  "scopes/:id/delete": "recent",
  "settings/branding": "any",
  "settings/branding/preview": "any",
  "settings/logo": "any",
  "settings/logo/preview": "any",
  "settings/policies": "recent",
  "settings/sign-in-methods": "recent",
  "settings/sign-up": "recent",
  "settings/sign-in-methods/preview": "any",
  "signing-keys/:alg/rotate": "recent",
  "signing-keys/:alg/revoke": "recent",
  "signing-keys/device-ca/rotate": "recent",
  // Who learns what happens, and what receivers trust.
  "webhooks/new": "recent",
  "webhooks/bulk": bulkDemand,
  "webhooks/:id/settings": "recent",
  "webhooks/:id/secret/new": "recent",
  "webhooks/:id/test": "any",
  "webhooks/:id/deliveries/retry": "any",
  "webhooks/:id/deliveries/:delivery/retry": "any",
  "webhooks/:id/enable": "any",
  "webhooks/:id/disable": "any",
  "webhooks/:id/delete": "recent",
  "system-accounts/new": "recent",
  "system-accounts/bulk": bulkDemand,
  "system-accounts/:id/edit": "recent",
  "system-accounts/:id/enable": "any",
  "system-accounts/:id/disable": "any",
  "system-accounts/:id/delete": "recent",
  "system-accounts/:id/keys/new": "recent",
  "system-accounts/:id/keys/:key/end": "recent",
  "system-accounts/:id/permissions/new": "recent",
  "system-accounts/:id/permissions/:application/remove": "recent",
  "users/new": newUserDemand,
  "users/invite": "any",
  // A file can name administrators.
  "users/import": "recent",
  "users/:id/roles/add/bulk": "recent",
  "users/:id/roles/:assignment/remove": "any",
  "users/:id/groups/add/bulk": "recent",
  "users/:id/groups/:group/remove": "any",
  "users/sign-ups/:id/approve": "any",
  "users/sign-ups/:id/reject": "any",
  "users/sign-ups/bulk": "any",
  "users/bulk": bulkDemand,
  // Role, groups and attributes are in the form.
  "users/:id/edit": "recent",
  // Who receives the next reset of the password.
  "users/:id/address": "recent",
  "users/:id/enable": "any",
  "users/:id/disable": "any",
  "users/:id/delete": "recent",
  "users/:id/remove": "recent",
  "users/:id/new-password": "recent",
  "users/:id/password-reset": "any",
  "users/:id/reset-factors": "recent",
  "users/:id/sign-out": "any",
  "users/:id/sessions/:session/end": "any",
  "users/:id/consents/:consent/revoke": "any",
  "users/:id/invitation/again": "any",
  "users/:id/invitation/withdraw": "any",
};

const deviceDemands: Readonly<Record<string, Demand>> = {
  register: "recent",
  policy: "recent",
  bulk: bulkDemand,
  "codes/bulk": bulkDemand,
  ":id/revoke": "recent",
  "codes/:id/withdraw": "any",
};

/** Pages for reading are here too: they are open to every session. */
const accountDemands: Readonly<Record<string, Demand>> = {
  "account/profile": "any",
  "account/address": "recent",
  "account/password": "recent",
  "account/activity": "any",
  "account/data": "any",
  "account/data/export": "recent",
  "account/deletion": "recent",
  "account/leave": "recent",
  "account/sessions": "any",
  "account/sessions/end": "any",
  "account/security": "any",
  "account/security/authenticator": "recent",
  "account/security/authenticator/removal": "recent",
  "account/security/passkeys": "recent",
  "account/security/passkey": "recent",
  "account/security/recovery-codes": "recent",
  "account/security/browsers": "any",
  "account/security/connection": "recent",
  "user/consents": "any",
  "user/consents/:id/revoke": "any",
};

const below = (prefix: string, demands: Readonly<Record<string, Demand>>): [string, Demand][] =>
  Object.entries(demands).map(([rest, demand]) => [`${prefix}/${rest}`, demand]);

/** By the address of the form, as it is registered. */
export const demands: ReadonlyMap<string, Demand> = new Map([
  ["/oauth/:org/account", "any"],
  ...below("/oauth/manage/:org", consoleDemands),
  ...below("/devices/manage/:org", deviceDemands),
  ...below("/oauth/:org", accountDemands),
]);

/** @param values of the form; none for its page, which every choice is still open on */
export function demandsRecentSignIn(
  { routeOptions }: Pick<FastifyRequest, "routeOptions">,
  values: Values = new Map(),
): boolean {
  const demand = demands.get(routeOptions.url ?? "") ?? "recent";
  return (typeof demand === "function" ? demand(values) : demand) === "recent";
}
