/** Validates the public keys an agent registers: members, algorithm, proof of possession, certificates (sovereign-signing.md §5, §6). */
import { createPublicKey, type KeyObject } from "node:crypto";
import {
  type AgentAlg,
  type AgentVerificationKey,
  checkAgentSignature,
  defaultAgentAlg,
  fitsAgentAlg,
  isAgentAlg,
} from "@signet/protocol/agent-signature";
import { x5cChainFault } from "@signet/protocol/certificates/x5c-chain";
import { jwkThumbprint } from "@signet/protocol/jose/jwk";
import type { PublicKeyMembers } from "@signet/protocol/jose/jwk-members";
import { decodeJwsUnverified } from "@signet/protocol/jose/jws";
import { isMlDsaAlg, mlDsaAlgs, mlDsaSizes } from "@signet/protocol/jose/ml-dsa";
import { seconds } from "../../../core/clock.ts";
import type { AgentKey } from "../../../core/signing-pools/agent-key.ts";
import { type SigningPool, signingPoolUrl } from "../../../core/signing-pools/signing-pool.ts";
import { CodedError } from "../../../http/coded-error.ts";

export interface PresentedKey {
  readonly jwk: Readonly<Record<string, unknown>>;
  readonly x5c?: readonly string[];
  readonly pop: string;
}

export type ValidKey = Pick<AgentKey, "kid" | "publicJwk" | "alg" | "x5c">;

interface KeyContext {
  readonly baseUrl: string;
  readonly pool: SigningPool;
  /** Milliseconds. */
  readonly now: number;
}

/** @throws CodedError 400, 409 or 422 that names the first invalid key */
export async function readAgentKeys(
  presented: readonly PresentedKey[],
  context: KeyContext,
): Promise<ValidKey[]> {
  // First of all: the sender of a private key must know that it is compromised.
  for (const { jwk } of presented) refusePrivate(jwk);
  const keys: ValidKey[] = [];
  // In order, so that the error names the first invalid key.
  for (const [index, key] of presented.entries())
    keys.push(await readAgentKey(key, `keys[${index}]`, context));
  const kids = new Set(keys.map(({ kid }) => kid));
  if (kids.size < keys.length) throw duplicateKey("the request contains the same key twice");
  return keys;
}

export const duplicateKey = (description: string) => new CodedError(409, "duplicate_key", description);

const malformed = (description: string) => new CodedError(400, "invalid_request", description);
const refused = (code: "pop_invalid" | "chain_invalid" | "unsupported_alg", description: string) =>
  new CodedError(422, code, description);

const PRIVATE_MEMBERS = ["d", "p", "q", "dp", "dq", "qi", "oth", "k", "priv"];
/** Of the key itself, beside `kty` (RFC 7518 §6, RFC 8037 §2, RFC 9964 §3). */
const PUBLIC_MEMBERS = ["crv", "x", "y", "n", "e", "pub"] as const;
const KNOWN_MEMBERS = ["kty", ...PUBLIC_MEMBERS, "alg", "use", "kid", "key_ops", "x5c"];

function refusePrivate(jwk: PresentedKey["jwk"]): void {
  const description = "the key has private members and is compromised: create a new one";
  if (PRIVATE_MEMBERS.some((member) => Object.hasOwn(jwk, member)))
    throw new CodedError(400, "private_key_material", description);
}

async function readAgentKey(
  presented: PresentedKey,
  at: string,
  { baseUrl, pool, now }: KeyContext,
): Promise<ValidKey> {
  const { jwk, pop } = presented;
  const unknown = Object.keys(jwk).find((member) => !KNOWN_MEMBERS.includes(member));
  if (unknown !== undefined) throw malformed(`${at}.jwk has an unknown member`);
  const publicKey = parsePublicKey(jwk, at);
  const publicJwk = canonicalMembers(jwk, publicKey, at);
  const kid = jwkThumbprint(publicJwk);
  requireUse(jwk, kid, at);
  const alg = keyAlg(jwk, publicKey, at);
  if (!pool.algs.includes(alg))
    throw refused("unsupported_alg", `${at}: the pool accepts ${pool.algs.join(", ")}, not ${alg}`);
  const audience = signingPoolUrl(baseUrl, pool);
  const proof = proofFault(pop, { publicKey, alg, audience, thumbprint: kid, now: seconds(now) });
  if (proof) throw refused("pop_invalid", `${at}.pop ${proof}`);
  const x5c = certificateChain(presented, at);
  await requireChain(x5c, { at, pool, publicJwk, subjectUri: audience, now });
  return { kid, publicJwk, alg, x5c };
}

function parsePublicKey(jwk: PresentedKey["jwk"], at: string): KeyObject {
  const { kty } = jwk;
  if (typeof kty !== "string") throw malformed(`${at}.jwk.kty is missing`);
  if (!["AKP", "EC", "OKP", "RSA"].includes(kty))
    throw refused("unsupported_alg", `${at}.jwk must be an EC, OKP, RSA or AKP key`);
  const members = PUBLIC_MEMBERS.filter((member) => Object.hasOwn(jwk, member));
  const bad = members.find((member) => typeof jwk[member] !== "string");
  if (bad !== undefined) throw malformed(`${at}.jwk.${bad} must be a string`);
  const given = {
    ...Object.fromEntries(members.map((member) => [member, jwk[member]])),
    ...(kty === "AKP" ? parameterSet(jwk, at) : {}),
  };
  try {
    return createPublicKey({ key: { ...given, kty }, format: "jwk" });
  } catch {
    throw malformed(`${at}.jwk is not a public key`);
  }
}

/** RFC 9964 §3: `alg` is a part of such a key, and says how long it is. */
function parameterSet({ alg, pub }: PresentedKey["jwk"], at: string): { readonly alg: string } {
  if (alg === undefined) throw malformed(`${at}.jwk.alg is missing: an AKP key has one`);
  if (!isMlDsaAlg(alg))
    throw refused("unsupported_alg", `${at}.jwk.alg of an AKP key must be one of ${mlDsaAlgs.join(", ")}`);
  const { publicKey } = mlDsaSizes[alg];
  if (typeof pub !== "string" || Buffer.from(pub, "base64url").length !== publicKey)
    throw malformed(`${at}.jwk.pub of ${alg} must have ${publicKey} bytes`);
  return { alg };
}

/** In their canonical encoding, or the same key would have several thumbprints. */
function canonicalMembers(
  jwk: PresentedKey["jwk"],
  publicKey: KeyObject,
  at: string,
): PublicKeyMembers & { readonly kty: string } {
  const exported: PublicKeyMembers = publicKey.export({ format: "jwk" });
  const names = PUBLIC_MEMBERS.filter(
    (member) => exported[member] !== undefined || jwk[member] !== undefined,
  );
  const different = names.find((member) => jwk[member] !== exported[member]);
  if (different !== undefined) throw malformed(`${at}.jwk.${different} is not encoded as RFC 7518 requires`);
  const members = Object.fromEntries(names.map((member) => [member, exported[member]]));
  return { ...members, ...(exported.kty === "AKP" ? { alg: exported.alg } : {}), kty: String(exported.kty) };
}

function requireUse({ use, key_ops, kid }: PresentedKey["jwk"], thumbprint: string, at: string): void {
  if (use !== undefined && use !== "sig") throw malformed(`${at}.jwk.use must be sig`);
  if (key_ops !== undefined && !(Array.isArray(key_ops) && key_ops.includes("verify")))
    throw malformed(`${at}.jwk.key_ops must contain verify`);
  if (kid !== undefined && kid !== thumbprint)
    throw malformed(`${at}.jwk.kid must be the key's RFC 7638 thumbprint, ${thumbprint}, or absent`);
}

function keyAlg({ alg }: PresentedKey["jwk"], publicKey: KeyObject, at: string): AgentAlg {
  if (alg === undefined) {
    const chosen = defaultAgentAlg(publicKey);
    if (chosen) return chosen;
    throw refused(
      "unsupported_alg",
      `${at}.jwk must be P-256, P-384, Ed25519, ML-DSA or RSA from 2048 to 8192 bits`,
    );
  }
  if (!isAgentAlg(alg)) throw refused("unsupported_alg", `${at}.jwk.alg is not supported`);
  if (!fitsAgentAlg({ publicKey, alg })) throw refused("unsupported_alg", `${at}.jwk does not fit ${alg}`);
  return alg;
}

/** Beside the key, or in it (RFC 7517 §4.7). */
function certificateChain({ jwk, x5c }: PresentedKey, at: string): readonly string[] {
  const inside = jwk["x5c"];
  if (inside === undefined) return x5c ?? [];
  if (!Array.isArray(inside) || inside.some((one) => typeof one !== "string"))
    throw malformed(`${at}.jwk.x5c must be a list of base64 strings`);
  if (x5c && JSON.stringify(x5c) !== JSON.stringify(inside))
    throw malformed(`${at} has two different x5c lists`);
  return inside as string[];
}

async function requireChain(
  x5c: readonly string[],
  chain: { at: string; pool: SigningPool; publicJwk: PublicKeyMembers; subjectUri: string; now: number },
): Promise<void> {
  const { at, pool, publicJwk, subjectUri, now } = chain;
  const { trustedRoots } = pool;
  if (x5c.length === 0) {
    if (pool.requireX5c)
      throw refused("chain_invalid", `${at}.x5c is missing: the pool requires certificates`);
    return;
  }
  // Unchecked certificates are not published.
  if (trustedRoots.length === 0)
    throw refused("chain_invalid", `${at}.x5c cannot be checked: the pool has no trusted roots`);
  const fault = await x5cChainFault({ x5c, trustedRoots, publicJwk, subjectUri, now });
  if (fault) throw refused("chain_invalid", `${at}.x5c: ${fault}`);
}

const PROOF_TYPE = "sovereign-pop+jwt";
const PROOF_MAX_AGE_SECONDS = 300;
/** How far the agent's clock may be ahead. */
const PROOF_SKEW_SECONDS = 60;

interface ExpectedProof extends AgentVerificationKey {
  readonly audience: string;
  /** RFC 7638. */
  readonly thumbprint: string;
  /** Seconds. */
  readonly now: number;
}

/** @returns what is wrong with the proof, for the error description; undefined when it is valid */
function proofFault(proof: string, expected: ExpectedProof): string | undefined {
  const decoded = decodeJwsUnverified(proof);
  if (!decoded) return "is not a compact JWS";
  const { header, payload } = decoded;
  if (Object.keys(header).sort().join() !== "alg,typ") return "must have only the header members alg and typ";
  if (header["typ"] !== PROOF_TYPE) return `must have the typ ${PROOF_TYPE}`;
  if (header["alg"] !== expected.alg) return `must have the alg of the key, ${expected.alg}`;
  const [head = "", body = "", signature = ""] = proof.split(".");
  const outcome = checkAgentSignature(expected, `${head}.${body}`, signature);
  if (outcome !== "good") return "is not signed by the key";
  if (payload["aud"] !== expected.audience) return `must have the aud ${expected.audience}`;
  if (payload["jkt"] !== expected.thumbprint) return `must have the jkt ${expected.thumbprint}`;
  const { iat } = payload;
  if (typeof iat !== "number" || !Number.isInteger(iat)) return "must have an iat in whole seconds";
  if (iat < expected.now - PROOF_MAX_AGE_SECONDS) return `is older than ${PROOF_MAX_AGE_SECONDS} seconds`;
  return iat > expected.now + PROOF_SKEW_SECONDS ? "has an iat in the future" : undefined;
}

/** A dozen keys with certificates. */
export const MAX_CHARACTERS = 48_000;

/** @returns undefined for anything else; agent-keys.ts validates the keys */
export function readRegistration(text: string) {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  const listed = isRecord(value) && "keys" in value ? value["keys"] : value;
  const keys: unknown[] = Array.isArray(listed) ? listed : [listed];
  if (keys.length === 0 || !keys.every(isPresentedKey)) return undefined;
  const { poolId, name } = isRecord(value) ? value : {};
  return {
    keys,
    ...(typeof poolId === "string" ? { poolId } : {}),
    ...(typeof name === "string" ? { name } : {}),
  };
}

function isPresentedKey(value: unknown): value is PresentedKey {
  if (!isRecord(value) || !isRecord(value["jwk"]) || typeof value["pop"] !== "string") return false;
  const { x5c } = value;
  return x5c === undefined || (Array.isArray(x5c) && x5c.every((one) => typeof one === "string"));
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
