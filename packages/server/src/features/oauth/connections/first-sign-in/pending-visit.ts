/** A first sign-in that waits for a proof: begun when the browser comes back, carried by a cookie of its own, ended once. */

import { randomSecret, sha256Base64url } from "@signet/protocol/hash";
import { OAuthError } from "@signet/protocol/oauth/oauth-error";
import type { UpstreamIdentity } from "../../../../core/connections/sign-in/link-identity.ts";
import {
  findPendingIdentity,
  insertPendingIdentity,
  PENDING_IDENTITY_MS,
  type PendingIdentity,
  takePendingIdentity,
} from "../../../../core/connections/sign-in/pending-identities.store.ts";
import type { SignInConnection } from "../../../../core/connections/sign-in/sign-in-connections.ts";
import { recordConnectionSignIn } from "../../../../core/connections/sign-in/sign-in-log.store.ts";
import { issuerOf } from "../../../../core/connections/sign-in/sign-in-settings.ts";
import { languageLinksTo } from "../../../../page-kit/language-choice.ts";
import { openFlow, orgPath, type Visit } from "../../authorize/browser.ts";
import type { Flow } from "../../authorize/flow.ts";
import { flowPage } from "../../authorize/page-request.ts";
import { type CurrentFlow, readFlow } from "../../authorize/take-step.ts";
import { type ConnectionDeps, findEnabledConnection } from "../connection-visit.ts";

export interface PendingVisit {
  readonly pending: PendingIdentity;
  readonly connection: SignInConnection;
  readonly current: CurrentFlow;
}

/** @param email whose account is to be proven; null while the address is. @returns the secret that only this browser has, as a hash */
export async function beginPending(
  deps: ConnectionDeps,
  { reply }: Visit,
  {
    connection,
    identity,
    flow,
    email,
  }: {
    readonly connection: SignInConnection;
    readonly identity: UpstreamIdentity;
    readonly flow: Flow;
    readonly email: string | null;
  },
): Promise<string> {
  const { orgId, id: connectionId, settings } = connection;
  const token = randomSecret("sgn_fi_");
  const holderHash = sha256Base64url(token);
  await insertPendingIdentity(deps.database.query, {
    ...{ orgId, holderHash, connectionId, flow: deps.flows.seal(flow), email, askedAt: null },
    identity: { ...withoutIdToken(connection, identity), issuer: issuerOf(settings) },
    expiresAt: deps.clock() + PENDING_IDENTITY_MS,
  });
  deps.firstSignIns.write(reply, orgId, token, PENDING_IDENTITY_MS / 1000);
  return holderHash;
}

/** It is sealed where it is kept. What SAML keeps in its place names the subject, as the identity does anyway. */
function withoutIdToken(
  { kind }: Pick<SignInConnection, "kind">,
  { upstream, ...identity }: UpstreamIdentity,
): UpstreamIdentity {
  if (!upstream) return identity;
  if (kind === "saml") return { ...identity, upstream };
  const { logoutHint: _, ...said } = upstream;
  return { ...identity, upstream: said };
}

/**
 * @returns undefined when the response has been sent
 * @throws OAuthError shown on a page, when nothing waits in this browser any more
 */
export async function readPending(deps: ConnectionDeps, visit: Visit): Promise<PendingVisit | undefined> {
  const { organisation, request } = visit;
  const token = deps.firstSignIns.read(request, organisation.id);
  const key = { orgId: organisation.id, holderHash: token === undefined ? "" : sha256Base64url(token) };
  const pending = await findPendingIdentity(deps.database.query, key, deps.clock());
  const known = pending && (await findEnabledConnection(deps, organisation.id, pending.connectionId));
  // A `sub` of another issuer, to which the connection has moved meanwhile, would be somebody else.
  if (!known || issuerOf(known.connection.settings) !== pending.identity.issuer) throw pageTooOld();
  const current = await readFlow(deps, visit, openFlow(deps, visit, pending.flow));
  return current && { pending, connection: known.connection, current };
}

const pageTooOld = () =>
  new OAuthError("invalid_request", "This page has expired. Return to the application and start again.", {
    reason: "page-too-old",
  });

/** @throws OAuthError shown on a page, for the second of two at once */
export async function endPending(
  deps: ConnectionDeps,
  { organisation, reply }: Visit,
  { pending }: PendingVisit,
): Promise<void> {
  deps.firstSignIns.clear(reply, organisation.id);
  if (!(await takePendingIdentity(deps.database.query, pending))) throw pageTooOld();
}

/** What the pages of it show: the language links come back to the page itself. */
export function pendingPage(
  deps: ConnectionDeps,
  visit: Visit,
  { connection, current }: PendingVisit,
  endpoint: "email-code" | "link-account",
) {
  const { page, redirectsElsewhere } = flowPage(deps, visit, current, undefined, endpoint);
  const languages = languageLinksTo(orgPath(visit.organisation, endpoint));
  return { frame: { ...page, languages, connection: { name: connection.name } }, redirectsElsewhere };
}

export const recordSuccess = (
  deps: ConnectionDeps,
  { request }: Visit,
  { orgId, id: connectionId }: SignInConnection,
  { subject, user }: UpstreamIdentity,
): Promise<void> =>
  recordConnectionSignIn(deps.database.query, {
    ...{ orgId, connectionId, at: deps.clock(), outcome: "succeeded", reason: null, detail: null },
    ...{ subject, email: user.email ?? null, reference: request.id },
  });
