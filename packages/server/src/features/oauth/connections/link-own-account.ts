/**
 * Links a further connection to the account that the browser is signed in to, from the account page (connections.md §3,
 * `connection-link-{id}`). Who it is for stands in the sealed flow: nobody else can make one, and it is good for that user's fresh
 * session alone, so that no other site links its own identity to somebody's account.
 */
import { ConnectionSignInFailure } from "../../../core/connections/sign-in/failure.ts";
import {
  linkProvenAccount,
  refused,
  type UpstreamIdentity,
} from "../../../core/connections/sign-in/link-identity.ts";
import { findIdentity } from "../../../core/connections/sign-in/linked-identities.store.ts";
import type { SignInConnection } from "../../../core/connections/sign-in/sign-in-connections.ts";
import { isFresh, type SignedIn } from "../../../core/sessions/session.ts";
import { addressOf } from "../../../http/listeners/client-address.ts";
import {
  type BrowserDeps,
  currentSession,
  flowPath,
  orgPath,
  redirectTo,
  type Visit,
} from "../authorize/browser.ts";
import { type Flow, flowForm } from "../authorize/flow.ts";
import { pageFlow } from "../authorize/page-request.ts";
import { readFlow, takeStep } from "../authorize/take-step.ts";
import type { ConnectionDeps } from "./connection-visit.ts";
import { recordSuccess } from "./first-sign-in/pending-visit.ts";

const FOR_USER = "link_user";

const securityPath = ({ organisation }: Visit) => orgPath(organisation, "account/security");

/** What the account page links to. */
export function linkStartUri(deps: BrowserDeps, visit: Visit, connectionId: string, userId: string): string {
  const page = { place: "account", path: `${securityPath(visit)}?done=connectionLinked` } as const;
  const flow = pageFlow(visit.organisation.id, page, deps.clock());
  const linking = { ...flow, parameters: [...flow.parameters, [FOR_USER, userId] as const] };
  return flowPath(deps, visit, `connections/${connectionId}/start`, linking);
}

/** Parameters of an authorization request are the client's: of a page's flow alone they are this server's. */
export const linkingUser = (flow: Flow): string | undefined =>
  flow.page === undefined ? undefined : flowForm(flow).values.get(FOR_USER);

/** @returns undefined when a sign-in has been shown instead, which leads back to the account page */
export async function ownerOfLink(
  deps: ConnectionDeps,
  visit: Visit,
  userId: string,
): Promise<SignedIn | undefined> {
  const signedIn = await currentSession(deps, visit);
  if (signedIn?.user.id === userId && isFresh(signedIn.session, deps.clock())) return signedIn;
  const page = { place: "account", path: securityPath(visit) } as const;
  const flow = pageFlow(visit.organisation.id, page, deps.clock(), { prompt: "login", isConfirmation: true });
  const current = await readFlow(deps, visit, flow);
  if (current) await takeStep(deps, visit, current);
  return undefined;
}

/** @throws ConnectionSignInFailure */
export async function linkReturned(
  deps: ConnectionDeps,
  visit: Visit,
  userId: string,
  { connection, identity }: { readonly connection: SignInConnection; readonly identity: UpstreamIdentity },
): Promise<void> {
  const signedIn = await currentSession(deps, visit);
  if (signedIn?.user.id !== userId || !isFresh(signedIn.session, deps.clock()))
    throw new ConnectionSignInFailure("other-browser", { subject: identity.subject });
  const { user } = signedIn;
  const { orgId, id: connectionId } = connection;
  const key = { orgId, connectionId, subject: identity.subject };
  const linked = await findIdentity(deps.database.query, key);
  if (linked && linked.userId !== userId) throw refused("already-linked", identity);
  if (!linked)
    await linkProvenAccount(deps, connection, identity, { user, address: addressOf(visit.request) });
  await recordSuccess(deps, visit, connection, identity);
  return redirectTo(visit, `${securityPath(visit)}?done=connectionLinked`);
}
