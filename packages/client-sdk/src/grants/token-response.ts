/** The response of a token endpoint (RFC 6749 §5.1). */
import { SignetError } from "../errors.ts";
import { type HttpAnswer, providerError } from "../provider/http.ts";
import { isRecord } from "../tokens/claims.ts";

/** The tokens of a token endpoint's response (RFC 6749 §5.1). */
export interface TokenSet {
  /** Sent as `Authorization: Bearer`. Opaque to the client. */
  readonly accessToken: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
  /** Undefined: as requested. */
  readonly scopes: readonly string[] | undefined;
  readonly refreshToken?: string;
  /** Not verified yet. */
  readonly idToken?: string;
}

/** RFC 6749 §5.1 only recommends `expires_in`; without it the token is soon requested again. */
const DEFAULT_LIFETIME_SECONDS = 60;
/** A mistaken number must not keep a token in use for years. */
const MAX_LIFETIME_SECONDS = 86_400;

/** @param now milliseconds, taken before the request */
export function parseTokenResponse(response: HttpAnswer, now: number): TokenSet {
  const { status, body } = response;
  if (status !== 200) throw providerError(response, "the token endpoint");
  if (!isRecord(body)) throw malformed("is not a JSON object");
  const { access_token, token_type, expires_in, scope, refresh_token, id_token } = body;
  if (!isText(access_token)) throw malformed("has no access_token");
  // RFC 6749 §7.1: a token of an unknown type must not be used.
  if (!isText(token_type) || token_type.toLowerCase() !== "bearer")
    throw malformed("has a token_type other than Bearer");
  return {
    accessToken: access_token,
    expiresAt: now + lifetimeSeconds(expires_in) * 1000,
    scopes: isText(scope) ? scope.split(" ").filter((name) => name !== "") : undefined,
    ...(isText(refresh_token) ? { refreshToken: refresh_token } : {}),
    ...(isText(id_token) ? { idToken: id_token } : {}),
  };
}

/** Some providers write the number as a string. */
function lifetimeSeconds(expiresIn: unknown): number {
  const seconds = isText(expiresIn) ? Number(expiresIn) : expiresIn;
  if (typeof seconds !== "number" || !(seconds >= 0)) return DEFAULT_LIFETIME_SECONDS;
  return Math.min(seconds, MAX_LIFETIME_SECONDS);
}

const isText = (value: unknown): value is string => typeof value === "string" && value !== "";

const malformed = (problem: string) =>
  new SignetError("provider_answer", `The token endpoint's response ${problem}.`);
