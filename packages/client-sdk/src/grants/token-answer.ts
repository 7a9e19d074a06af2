/** The answer of a token endpoint (RFC 6749 §5.1). */
import { SignetError } from "../errors.ts";
import { type HttpAnswer, providerFault } from "../provider/http.ts";
import { isRecord } from "../tokens/claims.ts";

/** An answer of the token endpoint (RFC 6749 §5.1). */
export interface TokenSet {
  /** Sent as `Authorization: Bearer`; what is in it is for the API that it is made out to. */
  readonly accessToken: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
  /** Undefined: as asked for. */
  readonly scopes: readonly string[] | undefined;
  readonly refreshToken?: string;
  /** Not verified here. */
  readonly idToken?: string;
}

/** RFC 6749 §5.1 only recommends `expires_in`: without one the token is asked for again before long. */
const DEFAULT_LIFETIME_SECONDS = 60;
/** Longer is believed of no access token: a mistaken number must not keep one in use for years. */
const LONGEST_LIFETIME_SECONDS = 86_400;

/**
 * @param now milliseconds, of before the request: a token must not be thought to live longer than it does
 * @throws SignetError `provider_refused` with `oauthError`, `provider_unreachable`, `provider_answer`
 */
export function tokenSetOf(answer: HttpAnswer, now: number): TokenSet {
  const { status, body } = answer;
  if (status !== 200) throw providerFault(answer, "the token endpoint");
  if (!isRecord(body)) throw malformed("is not a JSON object");
  const { access_token, token_type, expires_in, scope, refresh_token, id_token } = body;
  if (!isText(access_token)) throw malformed("has no access_token");
  // RFC 6749 §7.1: a token of a type that is not understood must not be used.
  if (!isText(token_type) || token_type.toLowerCase() !== "bearer")
    throw malformed("has another token_type than Bearer");
  return {
    accessToken: access_token,
    expiresAt: now + lifetimeSeconds(expires_in) * 1000,
    scopes: isText(scope) ? scope.split(" ").filter((name) => name !== "") : undefined,
    ...(isText(refresh_token) ? { refreshToken: refresh_token } : {}),
    ...(isText(id_token) ? { idToken: id_token } : {}),
  };
}

/** Some providers write the number as a text. */
function lifetimeSeconds(expiresIn: unknown): number {
  const seconds = isText(expiresIn) ? Number(expiresIn) : expiresIn;
  if (typeof seconds !== "number" || !(seconds >= 0)) return DEFAULT_LIFETIME_SECONDS;
  return Math.min(seconds, LONGEST_LIFETIME_SECONDS);
}

const isText = (value: unknown): value is string => typeof value === "string" && value !== "";

const malformed = (fault: string) =>
  new SignetError("provider_answer", `The answer of the provider's token endpoint ${fault}.`);
