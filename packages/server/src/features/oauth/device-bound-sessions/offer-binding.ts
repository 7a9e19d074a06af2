/** `Secure-Session-Registration`: offers a browser to bind its session to a key (DBSC §9.1). Browsers without it pass it over. */
import type { Session } from "../../../core/sessions/session.ts";
import type { BrowserDeps, Visit } from "../authorize/browser.ts";

/**
 * Only in answers that set the session's cookie: whoever stole a cookie is never offered to bind it to a key.
 * Browsers take it over TLS, and from loopback addresses.
 */
export function offerBinding(
  { baseUrl, sessionBindings }: Pick<BrowserDeps, "baseUrl" | "sessionBindings">,
  { organisation: { id }, reply }: Pick<Visit, "organisation" | "reply">,
  session: Session,
): void {
  if (session.boundKey || !isTrustworthy(new URL(baseUrl))) return;
  const challenge = sessionBindings.challenge(id, "register", session.id);
  const value = `(ES256 RS256);path="/oauth/${id}/device-bound-session";challenge="${challenge}"`;
  reply.header("secure-session-registration", value);
}

const isTrustworthy = ({ protocol, hostname }: URL): boolean =>
  protocol === "https:" || ["localhost", "127.0.0.1", "[::1]"].includes(hostname);
