/** A DPoP proof (RFC 9449 §4.2): a small JWT that the caller signs for one request, with the key that its token is bound to. */
import { calculateJwkThumbprint, compactVerify, decodeProtectedHeader, type JWK } from "jose";
import { SignetError } from "../errors.ts";
import { fromOutside } from "../from-outside.ts";
import { publicKeyOf, signingAlgorithms } from "../tokens/algorithms.ts";
import { isRecord } from "../tokens/claims.ts";
import type { DpopNonces } from "./dpop-nonces.ts";
import type { ReplayMemory } from "./replay-memory.ts";
import { sha256Base64url } from "./sha256.ts";

/** What a proof is held against. */
export interface DpopExpectations {
  readonly method: string;
  /** The request's address as the caller wrote it: our own public origin, and the path. */
  readonly url: string;
  readonly accessToken: string;
  /** `cnf.jkt` of the access token. */
  readonly thumbprint: string;
  readonly clock: () => number;
  readonly replays: ReplayMemory;
  /** Undefined: proofs need no nonce. */
  readonly nonces?: DpopNonces | undefined;
}

/** A proof is made for one request and sent at once. */
const LONGEST_AGE_SECONDS = 120;
/** What the clocks of two machines may differ. */
const TOLERANCE_SECONDS = 60;
/** Longer than any proof can be accepted. */
const REMEMBER_MS = (LONGEST_AGE_SECONDS + TOLERANCE_SECONDS + 1) * 1000;
const MAX_LENGTH = 8_192;
const MAX_JTI_LENGTH = 512;
const compactJws = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/;

/**
 * The checks of RFC 9449 §4.3, in their order; the last is the memory, so that no wrong proof fills it.
 *
 * @param proof the `DPoP` header; null without one
 * @throws SignetError `token_not_proven`, with `oauthError` `invalid_dpop_proof` or `use_dpop_nonce`
 */
export async function checkDpopProof(proof: string | null, expected: DpopExpectations): Promise<void> {
  if (proof === null) throw invalidProof("The DPoP header is missing.");
  // Two headers come as one with a comma, which is no JWS.
  if (proof.length > MAX_LENGTH || !compactJws.test(proof))
    throw invalidProof("The DPoP header is no single JWT.");
  const { jwk, alg } = headerOf(proof);
  const claims = await signedClaims(proof, jwk, alg);
  const { jti, htm, htu, iat } = claims;
  if (typeof jti !== "string" || jti === "" || jti.length > MAX_JTI_LENGTH)
    throw invalidProof("The proof has no jti.");
  if (htm !== expected.method) throw invalidProof("The proof's htm is not the request's method.");
  if (typeof htu !== "string" || !isSameAddress(htu, expected.url))
    throw invalidProof("The proof's htu is not the request's address.");
  await checkNonce(claims["nonce"], expected.nonces);
  checkTime(iat, expected.clock() / 1000);
  if (claims["ath"] !== (await sha256Base64url(expected.accessToken)))
    throw invalidProof("The proof's ath is not the hash of the access token.");
  if ((await calculateJwkThumbprint(jwk, "sha256")) !== expected.thumbprint)
    throw invalidProof("The token is bound to another key.");
  const id = await sha256Base64url(`${expected.thumbprint}.${jti}`);
  const isFirst = await fromOutside("The memory of proofs", () => expected.replays.isFirst(id, REMEMBER_MS));
  if (!isFirst) throw invalidProof("The proof was used before.");
}

function headerOf(proof: string): { readonly jwk: JWK; readonly alg: string } {
  const { typ, alg, jwk, crit } = headerFieldsOf(proof);
  if (typ !== "dpop+jwt") throw invalidProof("The proof's typ is not dpop+jwt.");
  if (typeof alg !== "string" || !signingAlgorithms.includes(alg))
    throw invalidProof("The algorithm is not accepted.");
  if (crit !== undefined) throw invalidProof("The header has an extension that is not understood.");
  // Whoever sends a private key has lost it (§4.3, step 7).
  if (!isRecord(jwk) || ["d", "p", "q", "dp", "dq", "qi", "oth", "k"].some((member) => member in jwk))
    throw invalidProof("The header has no public key.");
  return { jwk, alg };
}

function headerFieldsOf(proof: string): Record<string, unknown> {
  try {
    return { ...decodeProtectedHeader(proof) };
  } catch (cause) {
    throw invalidProof("The header cannot be read.", cause);
  }
}

async function signedClaims(proof: string, jwk: JWK, alg: string): Promise<Record<string, unknown>> {
  try {
    const { payload } = await compactVerify(proof, await publicKeyOf(jwk, alg), { algorithms: [alg] });
    const claims: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(payload));
    if (isRecord(claims)) return claims;
  } catch (cause) {
    throw invalidProof("The signature does not hold.", cause);
  }
  throw invalidProof("The claims are no JSON object.");
}

/** §4.3 step 9: without query and fragment, after the normalisation of RFC 3986 §6.2.2 and §6.2.3. */
function isSameAddress(htu: string, url: string): boolean {
  return URL.canParse(htu) && normalised(htu) === normalised(url);
}

function normalised(address: string): string {
  const { origin, pathname } = new URL(address);
  return origin + pathname.replace(/%[0-9a-f]{2}/gi, (escaped) => escaped.toUpperCase());
}

async function checkNonce(nonce: unknown, nonces: DpopNonces | undefined): Promise<void> {
  if (nonces === undefined) return;
  if (typeof nonce === "string" && (await nonces.accepts(nonce))) return;
  throw new SignetError("token_not_proven", "The proof needs the nonce of this answer.", {
    oauthError: "use_dpop_nonce",
  });
}

function checkTime(iat: unknown, now: number): void {
  if (typeof iat !== "number" || !Number.isFinite(iat)) throw invalidProof("The proof has no iat.");
  if (iat > now + TOLERANCE_SECONDS || iat < now - LONGEST_AGE_SECONDS)
    throw invalidProof("The proof was not made just now.");
}

const invalidProof = (message: string, cause?: unknown) =>
  new SignetError("token_not_proven", message, {
    oauthError: "invalid_dpop_proof",
    ...(cause === undefined ? {} : { cause }),
  });
