/** What a browser is told of its bound session, and the cookie that it gets with it (DBSC §9.6). */

import type { Session } from "../../../core/sessions/session.ts";
import { PROOF_SECONDS } from "../../../core/sessions/session-bindings.ts";
import type { BrowserDeps, Visit } from "../authorize/browser.ts";

export async function sendProofCookie(
  deps: BrowserDeps,
  { organisation: { id }, reply }: Visit,
  session: Session,
): Promise<void> {
  deps.proofCookies.write(reply, id, deps.sessionBindings.proof(session), PROOF_SECONDS);
  const instructions = {
    session_identifier: session.id,
    refresh_url: `/oauth/${id}/device-bound-session/refresh`,
    // Of the origin that the browser is at: the listener for certificates may have one of its own.
    scope: { include_site: false },
    credentials: [{ type: "cookie", ...deps.proofCookies.described(id) }],
    // Applications send browsers here from anywhere, and a cookie that is Lax goes with navigations alone.
    allowed_refresh_initiators: ["*"],
  };
  await sendJson({ reply }, 200, instructions, challengeHeader(deps, id, session.id));
}

/** A challenge for the next refresh, or for this one when the answer is 403. */
export const challengeHeader = (
  { sessionBindings }: Pick<BrowserDeps, "sessionBindings">,
  orgId: string,
  sessionId: string,
): Readonly<Record<string, string>> => ({
  "secure-session-challenge": `"${sessionBindings.challenge(orgId, "refresh", sessionId)}";id="${sessionId}"`,
});

/** To browsers alone, and to none of their pages. */
export async function sendJson(
  { reply }: Pick<Visit, "reply">,
  status: number,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): Promise<void> {
  await reply
    .headers({ "cache-control": "no-store", "cross-origin-resource-policy": "same-origin", ...headers })
    .code(status)
    .send(body);
}
