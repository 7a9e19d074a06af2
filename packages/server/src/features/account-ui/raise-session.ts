/** Adding a factor steps up the current session: its acr and amr include the new factor. */

import { type FactorProof, raiseAssurance } from "../../core/second-factors/second-factor.ts";
import type { SignedIn } from "../../core/sessions/session.ts";
import { startSession } from "../../core/sessions/sessions.ts";
import { addressOf } from "../../http/listeners/client-address.ts";
import type { Visit } from "../../page-kit/page.ts";
import type { AccountDeps } from "./account-page.ts";

/** The session ended in another tab meanwhile: rolls back. */
class SessionEnded extends Error {}

/**
 * Applies the proof and steps up the session in one transaction; the browser gets the new cookie.
 * @returns the result of `proof.use`; undefined if the proof was not accepted or the session has ended meanwhile
 */
export async function enrolAndStepUp(
  deps: AccountDeps,
  visit: Visit,
  signedIn: SignedIn,
  proof: Pick<FactorProof, "amr" | "acr" | "use">,
): Promise<readonly string[] | undefined> {
  const { organisation, request } = visit;
  const stepUp = deps.database.transaction(async (tx) => {
    const codes = await proof.use(tx);
    if (!codes) return undefined;
    const started = await startSession(
      tx,
      {
        organisation,
        user: signedIn.user,
        ...raiseAssurance(signedIn.session, proof),
        address: addressOf(request),
        userAgent: request.headers["user-agent"] ?? "",
        before: signedIn,
        authTime: signedIn.session.authTime,
      },
      deps.clock(),
    );
    if (started.session.id !== signedIn.session.id) throw new SessionEnded();
    return { codes, started };
  });
  const used = await stepUp.catch((error: unknown) => {
    if (error instanceof SessionEnded) return undefined;
    throw error;
  });
  if (used) deps.browserSession.writeSession(visit, used.started);
  return used?.codes;
}
