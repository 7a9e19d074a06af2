/**
 * Whether people of an enforced domain may sign in by their own factors here: to link the account that they had before, once, when
 * the domain's own connection has let them in and this browser waits for that account (connections.md §4, `ask`).
 */
import { sha256Base64url } from "@signet/protocol/hash";
import { findPendingIdentity } from "../../../../core/connections/sign-in/pending-identities.store.ts";
import { enforcedConnection } from "../../../../core/domains/enforced-sign-in.ts";
import { emailKey } from "../../../../core/users/user.ts";
import type { FirstSignInCookies } from "../../../../http/cookies/browser-cookies.ts";
import { type BrowserDeps, orgPath, type Visit } from "../browser.ts";
import type { CurrentFlow } from "../take-step.ts";

export interface OwnFactorsDeps extends BrowserDeps {
  readonly firstSignIns: FirstSignInCookies;
}

export type OwnFactors =
  | { readonly kind: "open" | "linking" }
  /** Closed: by this connection alone. */
  | { readonly kind: "closed"; readonly connectionId: string };

/** Neither a credential nor whether there is an account is looked at. */
export async function ownFactors(
  deps: OwnFactorsDeps,
  visit: Visit,
  { request }: CurrentFlow,
  email: string,
): Promise<OwnFactors> {
  const { id: orgId } = visit.organisation;
  const connectionId = await enforcedConnection(deps.database.query, orgId, email);
  if (connectionId === undefined) return { kind: "open" };
  const isLinking = "page" in request && request.page.path === orgPath(visit.organisation, "link-account");
  const token = isLinking ? deps.firstSignIns.read(visit.request, orgId) : undefined;
  if (token === undefined) return { kind: "closed", connectionId };
  const key = { orgId, holderHash: sha256Base64url(token) };
  const pending = await findPendingIdentity(deps.database.query, key, deps.clock());
  const isAskedFor =
    pending?.connectionId === connectionId &&
    pending.askedAt !== null &&
    pending.email !== null &&
    emailKey(pending.email) === emailKey(email);
  return isAskedFor ? { kind: "linking" } : { kind: "closed", connectionId };
}
