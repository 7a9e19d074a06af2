/** DPoP proofs (RFC 9449 §4): a JWT that the client signs for one request, with the key that its token is bound to. */
import { createPublicKey, type KeyObject, type webcrypto } from "node:crypto";
import { constantTimeEqual, sha256Base64url } from "@signet/protocol/hash";
import { jwkThumbprint } from "@signet/protocol/jose/jwk";
import {
  decodeJwsUnverified,
  isSigningAlg,
  type JwsHeader,
  type SigningAlg,
  type TokenAlg,
  verifyJws,
} from "@signet/protocol/jose/jws";
import { OAuthError } from "@signet/protocol/oauth/oauth-error";
import type { Db } from "../../db/open.ts";
import { clientJwkFault } from "../applications/client-jwks.ts";
import { seconds } from "../clock.ts";
import { consumeOnce } from "../consumed-values.store.ts";

export interface DpopProof {
  /** The thumbprint of its key (RFC 7638): `cnf.jkt`. */
  readonly jkt: string;
  readonly alg: SigningAlg;
  readonly jti: string;
  /** Seconds. */
  readonly iat: number;
  readonly nonce?: string;
}

/** What a proof must match. */
export interface ProvenRequest {
  readonly method: string;
  /** The addresses of the endpoint, without query: its own and that of mutual TLS. */
  readonly urls: readonly string[];
  /** At a resource: the proof names its hash. */
  readonly accessToken?: string;
  /** Milliseconds. */
  readonly now: number;
}

const MAX_LENGTH = 4_096;
const MAX_JTI_LENGTH = 255;
const MAX_AGE_SECONDS = 60;
const MAX_AHEAD_SECONDS = 30;

/**
 * The checks of RFC 9449 §4.3 but nonce and replay.
 * @throws OAuthError invalid_dpop_proof
 */
export function readDpopProof(text: string, request: ProvenRequest): DpopProof {
  const { header, alg, payload } = verifySigned(text);
  const { jti, htm, htu, iat, ath, nonce } = payload;
  if (typeof jti !== "string" || jti === "" || jti.length > MAX_JTI_LENGTH) throw invalid("jti");
  if (htm !== request.method) throw invalid("htm");
  const target = typeof htu === "string" ? normalised(htu) : undefined;
  if (target === undefined || !request.urls.some((url) => normalised(url) === target)) throw invalid("htu");
  const age = typeof iat === "number" ? seconds(request.now) - iat : Number.NaN;
  if (!(age <= MAX_AGE_SECONDS && age >= -MAX_AHEAD_SECONDS)) throw invalid("iat");
  const { accessToken } = request;
  if (accessToken !== undefined && !(typeof ath === "string" && isHashOf(ath, accessToken)))
    throw invalid("ath");
  if (nonce !== undefined && typeof nonce !== "string") throw invalid("nonce");
  const { jkt } = keyOf(header);
  return { jkt, alg, jti, iat: Number(iat), ...(nonce === undefined ? {} : { nonce }) };
}

/**
 * Uses the proof up, on every node (§11.1). Called last, so that no refused request fills the memory.
 * @param options.isSynced false where what is issued is bound to the proof's own key: if the machine fails at this moment and forgets
 * the proof, whoever sends it again gets what only that key can use
 * @throws OAuthError invalid_dpop_proof when it was used before
 */
export async function useDpopProof(
  db: Db,
  orgId: string,
  { jkt, jti, iat }: DpopProof,
  { isSynced = true }: { readonly isSynced?: boolean } = {},
): Promise<void> {
  const isFirst = await consumeOnce(db, {
    ...{ orgId, isSynced },
    kind: "dpop-proof",
    value: `${jkt}|${jti}`,
    // Until it is refused for its age; a NumericDate may have a fraction (RFC 7519 §2).
    expiresAt: Math.ceil((iat + MAX_AGE_SECONDS + 1) * 1000),
  });
  if (!isFirst) throw invalidProof("the DPoP proof was used before");
}

export const invalidProof = (description: string): OAuthError =>
  new OAuthError("invalid_dpop_proof", description);

const invalid = (claim: string) => invalidProof(`the DPoP proof has no valid ${claim}`);

const isHashOf = (ath: string, accessToken: string) => constantTimeEqual(ath, sha256Base64url(accessToken));

/** Signature, type and key: the key is the one in the header, since the token names its thumbprint. */
function verifySigned(text: string): {
  header: JwsHeader;
  alg: SigningAlg;
  payload: Record<string, unknown>;
} {
  // A repeated header arrives joined by a comma, which no JWS has.
  if (text.length > MAX_LENGTH) throw invalidProof("the DPoP proof is too long");
  const keyInHeader = (_kid: unknown, alg: TokenAlg, header: JwsHeader) => ({
    ...{ publicKey: keyOf(header).publicKey, alg },
  });
  const verified = verifyJws(text, keyInHeader, { typ: ["dpop+jwt"] });
  const alg = verified?.header.alg;
  // One spelling; ML-DSA is for tokens, never for what clients sign.
  if (verified?.header.typ === "dpop+jwt" && isSigningAlg(alg)) return { ...verified, alg };
  throw invalidProof(faultOf(text));
}

function faultOf(text: string): string {
  const unverified = decodeJwsUnverified(text);
  if (!unverified) return "the DPoP header is not one JWT";
  if (unverified.header["typ"] !== "dpop+jwt") return "the typ of the DPoP proof is not dpop+jwt";
  return "the signature of the DPoP proof is invalid";
}

interface ProofKey {
  readonly publicKey: KeyObject;
  readonly jkt: string;
}

const MAX_KEYS = 2_000;
/** By all members of the JWK: a client signs every request with the same key. */
const keys = new Map<string, ProofKey>();

/** @throws OAuthError invalid_dpop_proof */
function keyOf({ jwk }: Readonly<Record<string, unknown>>): ProofKey {
  const text = JSON.stringify(jwk) ?? "";
  const known = keys.get(text);
  if (known) return known;
  const fault = clientJwkFault(jwk);
  if (fault !== undefined) throw invalidProof(`the jwk of the DPoP proof ${fault}`);
  const members = jwk as webcrypto.JsonWebKey;
  const key = { publicKey: createPublicKey({ key: members, format: "jwk" }), jkt: jwkThumbprint(members) };
  if (keys.size >= MAX_KEYS) keys.delete(keys.keys().next().value as string);
  keys.set(text, key);
  return key;
}

/** Without query and fragment (§4.3), and one spelling of an address (RFC 3986 §6.2.2). */
function normalised(url: string): string | undefined {
  const parsed = URL.parse(url);
  if (parsed?.username !== "" || parsed.password !== "") return undefined;
  const path = parsed.pathname.replace(/%[0-9a-f]{2}/gi, (escaped) => {
    const character = String.fromCharCode(Number.parseInt(escaped.slice(1), 16));
    return /[A-Za-z0-9\-._~]/.test(character) ? character : escaped.toUpperCase();
  });
  return parsed.origin + path;
}
