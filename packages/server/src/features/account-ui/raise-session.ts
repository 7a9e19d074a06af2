/** A factor that was just added, by somebody who just proved themselves, counts for the session too. */

import { type FactorProof, raised } from "../../core/second-factors/factor-proof.ts";
import type { SignedIn } from "../../core/sessions/session.ts";
import { signInWithin } from "../../core/sessions/sessions.ts";
import { addressOf } from "../../http/listeners/client-address.ts";
import type { Visit } from "../../page-kit/page.ts";
import type { AccountDeps } from "./account-page.ts";

/** Signed out in another tab just now: a session that has ended is not raised from the dead. */
class SessionIsOver extends Error {}

/**
 * Uses the proof and raises the session in one transaction; the browser gets the new cookie.
 * @returns what the proof's use gave; undefined when it could not be used, or the session has ended meanwhile
 */
export async function useAndRaise(
  deps: AccountDeps,
  visit: Visit,
  signedIn: SignedIn,
  proof: Pick<FactorProof, "amr" | "acr" | "use">,
): Promise<readonly string[] | undefined> {
  const { organisation, request } = visit;
  const raising = deps.database.transaction(async (tx) => {
    const codes = await proof.use(tx);
    if (!codes) return undefined;
    const { session, token } = await signInWithin(
      tx,
      {
        organisation,
        user: signedIn.user,
        ...raised(signedIn.session, proof),
        address: addressOf(request),
        userAgent: request.headers["user-agent"] ?? "",
        before: signedIn,
        authTime: signedIn.session.authTime,
      },
      deps.clock(),
    );
    if (session.id !== signedIn.session.id) throw new SessionIsOver();
    return { codes, token };
  });
  const used = await raising.catch((error: unknown) => {
    if (error instanceof SessionIsOver) return undefined;
    throw error;
  });
  if (used) deps.browserSession.writeSession(visit, used.token);
  return used?.codes;
}
