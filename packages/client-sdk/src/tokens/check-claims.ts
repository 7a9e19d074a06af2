/** The registered claims of a token whose signature holds (RFC 7519 §4.1). */
import { SignetError } from "../errors.ts";
import { audiencesOf, type Claims } from "./claims.ts";

export interface ClaimChecks {
  readonly issuer: string;
  readonly audience?: string | undefined;
  readonly clock: () => number;
  readonly toleranceSeconds?: number;
  readonly required: readonly string[];
}

const TOLERANCE_SECONDS = 60;

/** Throws `SignetError` with the first fault: missing, of a wrong type, of another issuer or audience, out of its time. */
export function checkClaims(claims: Claims, checks: ClaimChecks): void {
  for (const name of checks.required)
    if (claims[name] === undefined || claims[name] === null)
      throw new SignetError("token_claim_missing", `The token has no claim ${name}.`);
  checkForms(claims);
  if (claims.iss !== checks.issuer)
    throw new SignetError("token_issuer", "The token comes from another issuer.");
  if (checks.audience !== undefined && !audiencesOf(claims).includes(checks.audience))
    throw new SignetError("token_audience", "The token is made out to another audience.");
  checkTimes(claims, checks.clock() / 1000, checks.toleranceSeconds ?? TOLERANCE_SECONDS);
}

function checkForms(claims: Claims): void {
  const { aud } = claims;
  const isText = (value: unknown) => typeof value === "string" && value !== "";
  const wrong =
    (["iss", "sub", "jti"] as const).find((name) => claims[name] !== undefined && !isText(claims[name])) ??
    (["exp", "nbf", "iat"] as const).find((name) => claims[name] !== undefined && !isTime(claims[name])) ??
    (aud === undefined || isText(aud) || (Array.isArray(aud) && aud.every(isText)) ? undefined : "aud");
  if (wrong) throw new SignetError("token_claim", `The token's claim ${wrong} is not of the right form.`);
}

/** RFC 7519 §2, NumericDate: it may have a fraction. */
function isTime(value: unknown): boolean {
  return typeof value === "number" && Number.isFinite(value) && value >= 0;
}

function checkTimes({ exp, nbf, iat }: Claims, now: number, tolerance: number): void {
  if (exp !== undefined && now >= exp + tolerance)
    throw new SignetError("token_expired", "The token has expired.");
  if (nbf !== undefined && now < nbf - tolerance)
    throw new SignetError("token_not_yet_valid", "The token is not valid yet.");
  // A token from the future: a clock is wrong, or it was made to outlive a change of keys.
  if (iat !== undefined && now < iat - tolerance)
    throw new SignetError("token_not_yet_valid", "The token was issued in the future.");
}
