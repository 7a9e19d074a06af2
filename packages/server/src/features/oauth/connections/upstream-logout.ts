/** Who signs out here signs out at the provider too (OpenID Connect RP-Initiated Logout 1.0, SAML 2.0 Profiles §4.4), and comes back to where the sign-out leads. */
import type { ConnectionKey } from "../../../core/connections/connection.ts";
import { ConnectionSignInFailure } from "../../../core/connections/sign-in/failure.ts";
import { forgetLogoutHint } from "../../../core/connections/sign-in/upstream-sign-ins.store.ts";
import { findUpstreamOf, openLogoutHint } from "../../../core/connections/sign-in/upstream-sign-ins.ts";
import type { SignedIn } from "../../../core/sessions/session.ts";
import type { Visit } from "../authorize/browser.ts";
import { type ConnectionDeps, findEnabledConnection } from "./connection-visit.ts";

/** Where the sign-out leads, once the provider has done its part. */
export interface AfterLogout {
  /** Registered for the application; undefined for the page that says so. */
  readonly redirectUri?: string | undefined;
  readonly state?: string | undefined;
}

const RETURN_MS = 10 * 60_000;

const sealContext = (orgId: string, connectionId: string) => `logged-out|${orgId}|${connectionId}`;

/** @returns the provider's address; undefined where nobody else has to be told, or the provider cannot be asked */
export async function upstreamLogoutAddress(
  deps: ConnectionDeps,
  { organisation: { id: orgId } }: Visit,
  { session, user }: SignedIn,
  after: AfterLogout,
): Promise<{ readonly address: string; readonly name: string } | undefined> {
  const signIn = await findUpstreamOf(deps.database.query, { ...session, orgId, userId: user.id });
  if (!signIn) return undefined;
  const known = await findEnabledConnection(deps, orgId, signIn.connectionId);
  if (!known?.connection.settings.upstreamLogout) return undefined;
  const { connection, upstream } = known;
  const kept = { ...after, expiresAt: deps.clock() + RETURN_MS };
  const state = deps.secondFactors.seals.seal(
    Buffer.from(JSON.stringify(kept)),
    sealContext(orgId, connection.id),
  );
  const returnTo = `${deps.baseUrl}/oauth/${orgId}/connections/${connection.id}/logged-out`;
  try {
    const hint = openLogoutHint(deps.encryption, signIn);
    await forgetLogoutHint(deps.database.query, signIn);
    const address = await upstream.logoutAddress?.(connection, { hint, returnTo, state });
    return address === undefined ? undefined : { address, name: connection.name };
  } catch (error) {
    // Whoever signs out is signed out, whatever the provider does.
    if (error instanceof ConnectionSignInFailure) return undefined;
    throw error;
  }
}

/** @returns undefined when the provider has lost it, or somebody else has made it */
export function readReturn(
  deps: Pick<ConnectionDeps, "secondFactors" | "clock">,
  { orgId, id }: ConnectionKey,
  state: string | undefined,
): AfterLogout | undefined {
  if (state === undefined) return undefined;
  try {
    const opened = deps.secondFactors.seals.open(state, sealContext(orgId, id)).toString();
    const { expiresAt, ...after } = JSON.parse(opened) as AfterLogout & { readonly expiresAt: number };
    return expiresAt > deps.clock() ? after : undefined;
  } catch {
    return undefined;
  }
}
