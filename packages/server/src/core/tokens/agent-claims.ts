/** Validating the claims of access tokens that an agent signed: an agent may sign what nobody asked for. */
import type { AccessTokenClaims } from "./claims.ts";
import { familyIdFromTokenId } from "./token-family.ts";

/** Between the agent's clock and Signet's. */
const SKEW_SECONDS = 60;
const MAX_ACTORS = 4;

/**
 * Such a token has the claim types of an issued token, lives no longer than the pool allows, and names a token family unless
 * the client itself is the subject.
 * @param limits.now seconds
 * @returns undefined for any other token
 */
export function readAgentClaims(
  payload: Readonly<Record<string, unknown>>,
  limits: { readonly now: number; readonly maxLifetimeSeconds: number },
): AccessTokenClaims | undefined {
  const { iss, sub, aud, client_id, jti, iat, exp, scope, device_id, cnf, authorization_details } = payload;
  if (![iss, sub, client_id, jti].every((one) => typeof one === "string")) return undefined;
  if (scope !== undefined && typeof scope !== "string") return undefined;
  if (device_id !== undefined && typeof device_id !== "string") return undefined;
  if (authorization_details !== undefined && !isDetails(authorization_details)) return undefined;
  // A binding of an unknown kind cannot be checked.
  if (cnf !== undefined && !isConfirmation(cnf)) return undefined;
  // Only tokens that Signet itself signs come from a client's own.
  if (payload["exchanged_from"] !== undefined || !isActor(payload["act"], 0)) return undefined;
  if (payload["workload"] !== undefined && !isActor(payload["workload"], MAX_ACTORS - 1)) return undefined;
  if (!(typeof aud === "string" || (Array.isArray(aud) && aud.every((one) => typeof one === "string"))))
    return undefined;
  if (!isTime(iat) || !isTime(exp) || iat > limits.now + SKEW_SECONDS) return undefined;
  if (exp - iat > limits.maxLifetimeSeconds) return undefined;
  const claims = payload as unknown as AccessTokenClaims;
  if (familyIdFromTokenId(claims.jti) !== undefined) return claims;
  // A client's own: nobody acts for it.
  return claims.sub === claims.client_id && claims.act === undefined ? claims : undefined;
}

/** RFC 8693 §4.1, as deep as an exchange makes it. */
function isActor(act: unknown, depth: number): boolean {
  if (act === undefined) return true;
  if (typeof act !== "object" || act === null || depth >= MAX_ACTORS) return false;
  const { iss, sub, act: before } = act as Readonly<Record<string, unknown>>;
  return typeof iss === "string" && typeof sub === "string" && isActor(before, depth + 1);
}

/** RFC 8705 §3.1, RFC 9449 §6.1, and no other confirmation method (RFC 7800 §3.1). */
function isConfirmation(cnf: unknown): boolean {
  if (typeof cnf !== "object" || cnf === null) return false;
  const members = Object.entries(cnf);
  const isKnown = ([name, value]: [string, unknown]) =>
    typeof value === "string" && (name === "x5t#S256" || (name === "jkt" && isThumbprint(value)));
  return members.length > 0 && members.every(isKnown);
}

/** RFC 9396 §2. */
const isDetails = (value: unknown): boolean =>
  Array.isArray(value) &&
  value.every(
    (one: unknown) =>
      typeof one === "object" && one !== null && typeof (one as { type?: unknown }).type === "string",
  );

const isThumbprint = (value: string): boolean => /^[A-Za-z0-9_-]{43}$/.test(value);

const isTime = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;
