/** What an agent's access token says, when it says what the service could have rendered for it. */
import type { AccessTokenClaims } from "./claims.ts";
import { familyOfTokenId } from "./token-family.ts";

/** Between the agent's clock and ours. */
const SKEW_SECONDS = 60;

/**
 * An agent holds its key, and may sign what it was never asked for. Such a token counts for no longer than any other of the
 * pool, belongs to a user's sign-in unless it is the client's own, and has members of the kinds that are read here.
 * @param limits.now seconds
 * @returns undefined for anything else
 */
export function agentClaims(
  payload: Readonly<Record<string, unknown>>,
  limits: { readonly now: number; readonly longestSeconds: number },
): AccessTokenClaims | undefined {
  const { iss, sub, aud, client_id, jti, iat, exp, scope, device_id, cnf } = payload;
  if (![iss, sub, client_id, jti].every((one) => typeof one === "string")) return undefined;
  if (scope !== undefined && typeof scope !== "string") return undefined;
  if (device_id !== undefined && typeof device_id !== "string") return undefined;
  // What a token is bound to by means that are not known here, nobody here can check.
  if (cnf !== undefined && (typeof device_id !== "string" || !isCertificateConfirmation(cnf)))
    return undefined;
  if (!(typeof aud === "string" || (Array.isArray(aud) && aud.every((one) => typeof one === "string"))))
    return undefined;
  if (!isTime(iat) || !isTime(exp) || iat > limits.now + SKEW_SECONDS) return undefined;
  if (exp - iat > limits.longestSeconds) return undefined;
  const claims = payload as unknown as AccessTokenClaims;
  return claims.sub === claims.client_id || familyOfTokenId(claims.jti) !== undefined ? claims : undefined;
}

/** RFC 8705 §3.1, and nothing beside it (RFC 7800 §3.1: a confirmation says one thing). */
function isCertificateConfirmation(cnf: unknown): boolean {
  if (typeof cnf !== "object" || cnf === null) return false;
  const [member, ...others] = Object.entries(cnf);
  return member?.[0] === "x5t#S256" && typeof member[1] === "string" && others.length === 0;
}

const isTime = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;
