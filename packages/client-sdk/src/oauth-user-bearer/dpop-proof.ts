/** DPoP proofs (RFC 9449 §4.2): a JWT the caller signs for one request, with the key its token is bound to. */
import { calculateJwkThumbprint, compactVerify, decodeProtectedHeader, type JWK } from "jose";
import { callApplication } from "../application-callbacks.ts";
import { sha256Base64url } from "../base64url.ts";
import { SignetError } from "../errors.ts";
import { clientAlgorithms, hasSecretMembers, importPublicKey } from "../tokens/algorithms.ts";
import { isRecord } from "../tokens/claims.ts";
import { compactJws } from "../tokens/verify-jwt.ts";
import type { DpopNonces, ReplayMemory } from "./dpop-nonces.ts";

/** What a proof must match. */
export interface DpopExpectations {
  readonly method: string;
  /** The request's URL as the caller sees it: our public origin, and the path. */
  readonly url: string;
  readonly accessToken: string;
  /** `cnf.jkt` of the access token. */
  readonly thumbprint: string;
  readonly clock: () => number;
  readonly replays: ReplayMemory;
  /** Undefined: no nonce required. */
  readonly nonces?: DpopNonces | undefined;
}

const MAX_AGE_SECONDS = 120;
/** Accepted clock skew. */
const TOLERANCE_SECONDS = 60;
/** Longer than any proof is accepted. */
const REMEMBER_MS = (MAX_AGE_SECONDS + TOLERANCE_SECONDS + 1) * 1000;
const MAX_PROOF_LENGTH = 8_192;
const MAX_JTI_LENGTH = 512;

/**
 * The checks of RFC 9449 §4.3, in order. Replays are checked last, so that invalid proofs don't fill the memory.
 * @throws SignetError `token_not_proven`, with `oauthError` `invalid_dpop_proof` or `use_dpop_nonce`
 */
export async function verifyDpopProof(proof: string | null, expected: DpopExpectations): Promise<void> {
  if (proof === null) throw invalidProof("The DPoP header is missing.");
  // Repeated headers are joined with a comma, which no JWS contains.
  if (proof.length > MAX_PROOF_LENGTH || !compactJws.test(proof))
    throw invalidProof("The DPoP header is not a single JWT.");
  const { jwk, alg } = parseHeader(proof);
  const { jti, htm, htu, iat, nonce, ath } = await verifySignature(proof, jwk, alg);
  if (typeof jti !== "string" || jti === "" || jti.length > MAX_JTI_LENGTH)
    throw invalidProof("The proof has no valid jti.");
  if (htm !== expected.method) throw invalidProof("The proof's htm is not the request's method.");
  if (typeof htu !== "string" || !URL.canParse(htu) || normaliseUrl(htu) !== normaliseUrl(expected.url))
    throw invalidProof("The proof's htu is not the request's URL.");
  await checkNonce(nonce, expected.nonces);
  const age = typeof iat === "number" ? expected.clock() / 1000 - iat : Number.NaN;
  if (!(age >= -TOLERANCE_SECONDS && age <= MAX_AGE_SECONDS)) throw invalidProof("The proof is not recent.");
  if (ath !== (await sha256Base64url(expected.accessToken)))
    throw invalidProof("The proof's ath is not the hash of the access token.");
  if ((await calculateJwkThumbprint(jwk, "sha256")) !== expected.thumbprint)
    throw invalidProof("The token is bound to another key.");
  const id = await sha256Base64url(`${expected.thumbprint}.${jti}`);
  const isFirst = await callApplication("The replay memory", () => expected.replays.isFirst(id, REMEMBER_MS));
  if (!isFirst) throw invalidProof("The proof has already been used.");
}

function parseHeader(proof: string): { readonly jwk: JWK; readonly alg: string } {
  let header: Record<string, unknown>;
  try {
    header = { ...decodeProtectedHeader(proof) };
  } catch (cause) {
    throw invalidProof("The proof's header can't be read.", cause);
  }
  const { typ, alg, jwk, crit } = header;
  if (typ !== "dpop+jwt") throw invalidProof("The proof's typ is not dpop+jwt.");
  if (typeof alg !== "string" || !clientAlgorithms.includes(alg))
    throw invalidProof("The proof's algorithm is not accepted.");
  if (crit !== undefined) throw invalidProof("The proof's header has an unsupported extension.");
  // §4.3 step 7: a private key that was sent is compromised.
  if (!isRecord(jwk) || hasSecretMembers(jwk)) throw invalidProof("The proof's header has no public key.");
  return { jwk, alg };
}

async function verifySignature(proof: string, jwk: JWK, alg: string): Promise<Record<string, unknown>> {
  try {
    const key = await importPublicKey(jwk, alg);
    const { payload } = await compactVerify(proof, key, { algorithms: [alg] });
    const claims: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(payload));
    if (isRecord(claims)) return claims;
  } catch (cause) {
    throw invalidProof("The proof's signature is invalid.", cause);
  }
  throw invalidProof("The proof's claims are not a JSON object.");
}

/** §4.3 step 9: without query and fragment, normalised as in RFC 3986 §6.2.2 and §6.2.3. */
function normaliseUrl(url: string): string {
  const { origin, pathname } = new URL(url);
  return origin + pathname.replace(/%[0-9a-f]{2}/gi, (escaped) => escaped.toUpperCase());
}

async function checkNonce(nonce: unknown, nonces: DpopNonces | undefined): Promise<void> {
  if (nonces === undefined) return;
  if (typeof nonce === "string" && (await nonces.accepts(nonce))) return;
  throw new SignetError("token_not_proven", "The proof needs the nonce of this response.", {
    oauthError: "use_dpop_nonce",
  });
}

const invalidProof = (message: string, cause?: unknown) =>
  new SignetError("token_not_proven", message, { oauthError: "invalid_dpop_proof", cause });
