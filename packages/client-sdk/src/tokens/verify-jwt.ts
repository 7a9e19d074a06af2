/** Verifies any signed JWT (RFC 7515 §5.2, RFC 7519 §7.2, RFC 8725). Each token type adds its own rules. */
import { base64url, compactVerify } from "jose";
import { otherIssuer, SignetError, type SignetErrorCode } from "../errors.ts";
import { isSameAlgorithm, signingAlgorithms } from "./algorithms.ts";
import { audienceList, type Claims, isRecord, withoutUndefined } from "./claims.ts";

/** Keys that verify token signatures: the provider's key set, or pinned sovereign keys. */
export interface KeySource {
  /**
   * The public key a token's header names. `alg` is already known to be acceptable.
   * @throws SignetError `token_key_unknown` (no such key), `token_key_untrusted` (it must not be used), `token_algorithm` (it
   * doesn't fit `alg`), `token_algorithm_unsupported`, `provider_unreachable`, `provider_answer`
   */
  keyFor(header: TokenKeyHeader): Promise<CryptoKey>;
}

/** The header members that select the key. Never `jku`, `x5u`, `jwk` or `x5c`: the token would vouch for itself. */
export interface TokenKeyHeader {
  readonly alg: string;
  readonly kid?: string;
}

/** Longer tokens exceed the header limits of servers anyway. */
const MAX_TOKEN_LENGTH = 32 * 1024;
/** A compact JWS. Five parts would be a JWE; an empty last part is `alg: none`. */
export const compactJws = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/;
/** Clock skew between issuer and application. */
export const TOLERANCE_SECONDS = 60;

export interface JwtChecks {
  readonly keys: KeySource;
  readonly issuer: string;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  /** The only accepted algorithm; undefined: any that fits the key. */
  readonly algorithm?: string | undefined;
  /** Accepted `typ`, case-insensitive, with or without `application/`; "" accepts a missing one. Undefined: any. */
  readonly types: readonly string[] | undefined;
  /** Must be among the token's `aud`. */
  readonly audience?: string | undefined;
  readonly requiredClaims: readonly string[];
}

export interface VerifiedJwt {
  readonly header: TokenKeyHeader & { readonly typ?: string };
  readonly claims: Claims;
}

/** Checks format, type, algorithm, key, signature, then claims. @throws SignetError `token_…`, `provider_…` */
export async function verifyJwt(token: string, checks: JwtChecks): Promise<VerifiedJwt> {
  const header = parseHeader(token);
  // RFC 8725 §3.1: neither `none` nor a shared secret.
  if (!signingAlgorithms.includes(header.alg))
    throw new SignetError("token_algorithm", "The token's signature algorithm is not accepted.");
  if (checks.algorithm !== undefined && !isSameAlgorithm(header.alg, checks.algorithm))
    throw new SignetError("token_algorithm", "The token is not signed with the registered algorithm.", {
      cause: new Error(
        `${header.alg} instead of ${checks.algorithm}: oauthIdTokenAlg (SIGNET_OAUTH_ID_TOKEN_ALG) must be the ` +
          "algorithm registered for the application",
      ),
    });
  checkType(header.typ, checks.types);
  const key = await checks.keys.keyFor(header);
  const { payload } = await compactVerify(token, key, { algorithms: [header.alg] }).catch(
    (cause: unknown) => {
      throw new SignetError("token_signature", "The token's signature is invalid.", { cause });
    },
  );
  const claims: Claims | undefined = parseJsonObject(payload);
  if (!claims) throw malformed("The token's claims are not a JSON object.");
  checkClaims(claims, checks);
  return { header, claims };
}

/**
 * Whose keys a token asks to be verified with. Nothing has verified it: it only selects among issuers that are trusted anyway.
 * @throws SignetError `token_malformed`
 */
export function claimedIssuer(token: string): unknown {
  parseHeader(token);
  const claims = parseJsonObject(token.split(".")[1] ?? "");
  if (!claims) throw malformed("The token's claims are not a JSON object.");
  return claims["iss"];
}

function parseHeader(token: string): VerifiedJwt["header"] {
  if (typeof token !== "string" || token.length > MAX_TOKEN_LENGTH || !compactJws.test(token))
    throw malformed("The token is not a signed JWT.");
  const header = parseJsonObject(token.slice(0, token.indexOf(".")));
  if (!header) throw malformed("The token's header is not a JSON object.");
  const { alg, kid, typ } = header;
  if (typeof alg !== "string") throw malformed("The token's header has no alg.");
  if (kid !== undefined && typeof kid !== "string") throw malformed("The token's kid is not a string.");
  if (typ !== undefined && typeof typ !== "string") throw malformed("The token's typ is not a string.");
  // No extension is supported, b64 (RFC 7797) included, so every critical one must be rejected (RFC 7515 §4.1.11).
  if ("crit" in header) throw malformed("The token's header has an unsupported extension.");
  return withoutUndefined({ alg, kid, typ });
}

/** RFC 8725 §3.11: one type of token must not pass for another. */
function checkType(typ: string | undefined, types: readonly string[] | undefined): void {
  const name = (typ ?? "").toLowerCase().replace(/^application\//, "");
  if (types && !types.some((type) => type.toLowerCase() === name))
    throw new SignetError("token_type", "The token is of another type than expected.");
}

/** Presence, types, issuer, audience and times (RFC 7519 §4.1). */
function checkClaims(claims: Claims, checks: JwtChecks): void {
  for (const name of checks.requiredClaims)
    if (claims[name] === undefined || claims[name] === null)
      throw new SignetError("token_claim_missing", `The token has no ${name} claim.`);
  checkClaimTypes(claims);
  if (claims.iss !== checks.issuer)
    throw otherIssuer("token_issuer", "The token has another issuer", claims.iss, {
      expected: checks.issuer,
      setting: "issuer (SIGNET_ISSUER), or federationServer and oauthOrganisationId",
    });
  if (checks.audience !== undefined && !audienceList(claims).includes(checks.audience))
    throw new SignetError(
      "token_audience",
      `The token was issued for another audience than ${checks.audience}. Check oauthAudience (SIGNET_OAUTH_AUDIENCE).`,
      { description: "The token was issued for another audience." },
    );
  checkTimes(claims, checks.clock() / 1000);
}

function checkTimes({ exp, nbf, iat }: Claims, now: number): void {
  if (exp !== undefined && now >= exp + TOLERANCE_SECONDS)
    throw wrongTime("token_expired", "The token has expired", now - exp);
  if (nbf !== undefined && now < nbf - TOLERANCE_SECONDS)
    throw wrongTime("token_not_yet_valid", "The token is not valid yet", nbf - now);
  // From the future: a clock is wrong, or the token was made to outlive a key rotation.
  if (iat !== undefined && now < iat - TOLERANCE_SECONDS)
    throw wrongTime("token_not_yet_valid", "The token was issued in the future", iat - now);
}

/** A clock that is off by minutes looks like this. */
function wrongTime(code: SignetErrorCode, description: string, seconds: number): SignetError {
  const by = `by ${Math.round(seconds)} s of this machine's clock`;
  const message = `${description}, ${by}: if that is not so, set the clocks of this machine and the provider (NTP).`;
  return new SignetError(code, message, { description: `${description}.` });
}

function checkClaimTypes(claims: Claims): void {
  const { aud } = claims;
  const isText = (value: unknown) => typeof value === "string" && value !== "";
  // RFC 7519 §2, NumericDate: fractions are allowed.
  const isTime = (value: unknown) => typeof value === "number" && Number.isFinite(value) && value >= 0;
  const invalid =
    (["iss", "sub", "jti"] as const).find((name) => claims[name] !== undefined && !isText(claims[name])) ??
    (["exp", "nbf", "iat"] as const).find((name) => claims[name] !== undefined && !isTime(claims[name])) ??
    (aud === undefined || isText(aud) || (Array.isArray(aud) && aud.every(isText)) ? undefined : "aud");
  if (invalid) throw new SignetError("token_claim", `The token's ${invalid} claim is invalid.`);
}

/** Undefined also for invalid base64url or UTF-8. */
function parseJsonObject(encoded: Uint8Array | string): Record<string, unknown> | undefined {
  try {
    const bytes = typeof encoded === "string" ? base64url.decode(encoded) : encoded;
    const value: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const malformed = (message: string) => new SignetError("token_malformed", message);
