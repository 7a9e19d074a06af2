/**
 * Verifies a JWT of an issuer that the organisation trusts (RFC 7523 §3; modern-oauth.md §5, "Trust"). What the token says is held
 * against the records first: an issuer is asked for keys only for a token that a trust is for.
 */
import { decodeJwsUnverified } from "@signet/protocol/jose/jws";
import { errors, jwtVerify } from "jose";
import type { Db } from "../../db/open.ts";
import { ClientKeysUnavailable } from "../applications/client-keys.ts";
import { seconds } from "../clock.ts";
import { consumeOnce } from "../consumed-values.store.ts";
import type { CoreDeps } from "../core-deps.ts";
import { matchesPattern } from "./subject-pattern.ts";
import type { ClaimValue, Trust, TrustKind } from "./trust.ts";
import type { TrustKeys } from "./trust-keys.ts";
import { trustsOfIssuer } from "./trusts.store.ts";

export interface TrustedDeps extends CoreDeps {
  readonly trustKeys: TrustKeys;
}

export const trustAlgorithms = ["RS256", "PS256", "ES256", "ES384", "EdDSA"];
const MAX_LENGTH = 16_384;
const LEEWAY_SECONDS = 30;
const MAX_JTI = 255;

type Claims = Readonly<Record<string, unknown>>;

/** A token that was verified; nothing is used up. */
export interface TrustedToken {
  readonly trust: Trust;
  readonly claims: Claims & { readonly iss: string; readonly sub: string };
}

/** The message is for the log, never for the response. */
export class UntrustedToken extends Error {
  override readonly name = "UntrustedToken";
}

export interface Expected {
  readonly orgId: string;
  readonly kind: TrustKind;
  /** The client that presents the token: of trusts that name one it must be this. Undefined where none is known. */
  readonly clientId: string | undefined;
  /** Each is this server's name; a trust may have another audience. */
  readonly audiences: readonly string[];
  /** In lower case, without `application/`. */
  readonly types: readonly (string | undefined)[];
  readonly maxLifetimeSeconds?: number;
  /** FAPI 2.0: whatever the trust says, the audience is this issuer as a text, the token is used once, and RS256 is refused. */
  readonly isStrict?: boolean;
}

/** @throws UntrustedToken */
export async function verifyTrusted(
  deps: TrustedDeps,
  token: string,
  expected: Expected,
): Promise<TrustedToken> {
  const read = token.length <= MAX_LENGTH ? decodeJwsUnverified(token) : undefined;
  const issuer = read?.payload["iss"];
  if (!read || typeof issuer !== "string") throw new UntrustedToken("not a JWT with an iss");
  if (!expected.types.includes(typeOf(read.header["typ"])))
    throw new UntrustedToken("the header's typ names another type of token");
  const { alg } = read.header;
  if (!trustAlgorithms.some((one) => one === alg) || (expected.isStrict && alg === "RS256"))
    throw new UntrustedToken("the algorithm is not accepted");
  if (expected.isStrict && typeof read.payload["aud"] !== "string") throw new UntrustedToken("aud is a list");
  const { orgId, kind, clientId } = expected;
  const trusts = (await trustsOfIssuer(deps.database.query, { orgId, kind, issuer }))
    .filter((trust) => trust.clientId === null || trust.clientId === clientId)
    .map((trust) => (expected.isStrict ? { ...trust, audience: null, singleUse: true } : trust));
  if (trusts.length === 0) throw new UntrustedToken("no trust is for this issuer and client");
  const now = seconds(deps.clock());
  let fault = "";
  for (const trust of trusts) {
    const found =
      claimsFault(read.payload, trust, expected, now) ?? (await signatureFault(deps, trust, token));
    if (found === undefined) return { trust, claims: read.payload as TrustedToken["claims"] };
    fault = found;
  }
  throw new UntrustedToken(fault);
}

const typeOf = (typ: unknown): string | undefined =>
  typ === undefined
    ? undefined
    : String(typ)
        .toLowerCase()
        .replace(/^application\//, "");

function claimsFault(claims: Claims, trust: Trust, expected: Expected, now: number): string | undefined {
  const { aud } = claims;
  const subjectFault = faultOfSubject(claims["sub"], trust);
  if (subjectFault !== undefined) return subjectFault;
  const [audience, ...others] = [aud].flat();
  const audiences = trust.audience === null ? expected.audiences : [trust.audience];
  if (typeof audience !== "string" || others.length > 0 || !audiences.includes(audience))
    return "aud is not exactly the trust's audience";
  const wrong = Object.entries(trust.claims).find(([name, value]) => !holds(claims, name, value));
  if (wrong) return `the claim ${wrong[0]} is not what the trust says`;
  return (
    timeFault(claims, Math.min(trust.maxLifetimeSeconds, expected.maxLifetimeSeconds ?? Infinity), now) ??
    jtiFault(claims, trust)
  );
}

/** A software statement may name its software by other claims (RFC 7591 §2.3). */
function faultOfSubject(sub: unknown, { kind, subjectPattern }: Trust): string | undefined {
  if (kind === "software_statement" && sub === undefined && subjectPattern === null) return undefined;
  if (typeof sub !== "string" || sub === "" || sub.length > 1_024) return "there is no sub";
  const isMeant = subjectPattern === null || matchesPattern(subjectPattern, sub);
  return isMeant ? undefined : "no trust is for this sub";
}

/** By name; with `/` in front a JSON Pointer (RFC 6901). A list holds the value when it is among its members. */
function holds(claims: Claims, name: string, value: ClaimValue): boolean {
  const path = name.startsWith("/")
    ? name
        .slice(1)
        .split("/")
        .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"))
    : [name];
  let found: unknown = claims;
  for (const part of path) {
    if (typeof found !== "object" || found === null || !Object.hasOwn(found, part)) return false;
    found = (found as Claims)[part];
  }
  return Array.isArray(found) ? found.includes(value) : found === value;
}

const isTime = (value: unknown): value is number => typeof value === "number" && Number.isFinite(value);

function timeFault({ exp, iat, nbf }: Claims, maxLifetimeSeconds: number, now: number): string | undefined {
  if (!isTime(exp)) return "there is no exp";
  if (exp <= now) return "it has expired";
  if (iat !== undefined && !(isTime(iat) && iat <= now + LEEWAY_SECONDS)) return "iat is in the future";
  if (nbf !== undefined && !(isTime(nbf) && nbf <= now + LEEWAY_SECONDS)) return "nbf is in the future";
  if (exp > now + maxLifetimeSeconds + LEEWAY_SECONDS) return "it lives longer than the trust allows";
  return isTime(iat) && exp - iat > maxLifetimeSeconds ? "it lives longer than the trust allows" : undefined;
}

function jtiFault({ jti }: Claims, { singleUse }: Trust): string | undefined {
  if (!singleUse) return undefined;
  const isFine = typeof jti === "string" && jti !== "" && jti.length <= MAX_JTI;
  return isFine ? undefined : "there is no jti, and the trust is for single use";
}

async function signatureFault(
  { trustKeys, clock }: TrustedDeps,
  trust: Trust,
  token: string,
): Promise<string | undefined> {
  try {
    await jwtVerify(token, await trustKeys.of(trust), {
      algorithms: trustAlgorithms,
      issuer: trust.issuer,
      currentDate: new Date(clock()),
      clockTolerance: LEEWAY_SECONDS,
    });
    return undefined;
  } catch (error) {
    if (error instanceof errors.JOSEError || error instanceof ClientKeysUnavailable) return error.message;
    throw error;
  }
}

/**
 * Uses a token up, whatever it is presented as, on whichever node.
 * @returns false when it was used before
 */
export async function consumeTrusted(db: Db, { trust, claims }: TrustedToken): Promise<boolean> {
  if (!trust.singleUse) return true;
  return consumeOnce(db, {
    orgId: trust.orgId,
    kind: "trusted-token",
    value: JSON.stringify([trust.issuer, claims["jti"]]),
    // Longer than it is good: the nodes' clocks may differ.
    expiresAt: Math.ceil((Number(claims["exp"]) + LEEWAY_SECONDS) * 1_000),
  });
}
