/** Reads the public keys that an agent is registered with, and refuses all that is not one (sovereign-signing.md §5, §6). */
import { createPublicKey, type KeyObject } from "node:crypto";
import { type AgentAlg, defaultAgentAlg, fitsAgentAlg, isAgentAlg } from "@signet/protocol/agent-signature";
import { x5cChainFault } from "@signet/protocol/certificates/x5c-chain";
import { jwkThumbprint } from "@signet/protocol/jose/jwk";
import type { PublicKeyMembers } from "@signet/protocol/jose/jwk-members";
import { seconds } from "../../../core/clock.ts";
import type { AgentKey } from "../../../core/signing-pools/agent-key.ts";
import { poolAddress, type SigningPool } from "../../../core/signing-pools/signing-pool.ts";
import { CodedError } from "../../../http/coded-error.ts";
import { proofFault } from "./proof-of-possession.ts";

export interface PresentedKey {
  readonly jwk: Readonly<Record<string, unknown>>;
  readonly x5c?: readonly string[];
  readonly pop: string;
}

/** What of an agent's key is read from what was presented. */
export type ReadKey = Pick<AgentKey, "kid" | "publicJwk" | "alg" | "x5c">;

export interface KeyReading {
  readonly baseUrl: string;
  readonly pool: SigningPool;
  /** Milliseconds. */
  readonly now: number;
}

/** @throws CodedError 400, 409 or 422 naming the first key that is wrong */
export async function readAgentKeys(
  presented: readonly PresentedKey[],
  reading: KeyReading,
): Promise<ReadKey[]> {
  // Before anything else is said about a key: whoever sent one must hear of it.
  for (const { jwk } of presented) refusePrivate(jwk);
  const keys: ReadKey[] = [];
  // One after the other, so that the first that is wrong is the one that is named.
  for (const [index, key] of presented.entries())
    keys.push(await readAgentKey(key, `keys[${index}]`, reading));
  const kids = new Set(keys.map(({ kid }) => kid));
  if (kids.size < keys.length) throw duplicateKey("the request has the same key twice");
  return keys;
}

export const duplicateKey = (description: string) => new CodedError(409, "duplicate_key", description);

const malformed = (description: string) => new CodedError(400, "invalid_request", description);
const refused = (code: "pop_invalid" | "chain_invalid" | "unsupported_alg", description: string) =>
  new CodedError(422, code, description);

const PRIVATE_MEMBERS = ["d", "p", "q", "dp", "dq", "qi", "oth", "k"];
const KNOWN_MEMBERS = ["kty", "crv", "x", "y", "n", "e", "alg", "use", "kid", "key_ops", "x5c"];

function refusePrivate(jwk: PresentedKey["jwk"]): void {
  if (PRIVATE_MEMBERS.some((member) => Object.hasOwn(jwk, member)))
    throw new CodedError(
      400,
      "private_key_material",
      "the key has private members: they must never leave the agent, replace the key",
    );
}

async function readAgentKey(
  presented: PresentedKey,
  at: string,
  { baseUrl, pool, now }: KeyReading,
): Promise<ReadKey> {
  const { jwk, pop } = presented;
  const unknown = Object.keys(jwk).find((member) => !KNOWN_MEMBERS.includes(member));
  if (unknown !== undefined) throw malformed(`${at}.jwk has a member that is not known here`);
  const publicKey = publicKeyIn(jwk, at);
  const publicJwk = publicMembersOf(jwk, publicKey, at);
  const kid = jwkThumbprint(publicJwk);
  requireUse(jwk, kid, at);
  const alg = algOf(jwk, publicKey, at);
  if (!pool.algs.includes(alg))
    throw refused(
      "unsupported_alg",
      `${at}: the pool signs with ${pool.algs.join(", ")}, and this is ${alg}`,
    );
  const audience = poolAddress(baseUrl, pool);
  const proof = proofFault(pop, { publicKey, alg, audience, thumbprint: kid, now: seconds(now) });
  if (proof) throw refused("pop_invalid", `${at}.pop ${proof}`);
  const x5c = chainIn(presented, at);
  await requireChain(x5c, { at, pool, publicJwk, subjectUri: audience, now });
  return { kid, publicJwk, alg, x5c };
}

function publicKeyIn(jwk: PresentedKey["jwk"], at: string): KeyObject {
  const { kty } = jwk;
  if (typeof kty !== "string") throw malformed(`${at}.jwk.kty is missing`);
  if (!["EC", "OKP", "RSA"].includes(kty))
    throw refused("unsupported_alg", `${at}.jwk must be an EC, OKP or RSA key`);
  const members = ["crv", "x", "y", "n", "e"].filter((member) => Object.hasOwn(jwk, member));
  const bad = members.find((member) => typeof jwk[member] !== "string");
  if (bad !== undefined) throw malformed(`${at}.jwk.${bad} must be a string`);
  const given = Object.fromEntries(members.map((member) => [member, jwk[member]]));
  try {
    return createPublicKey({ key: { ...given, kty }, format: "jwk" });
  } catch {
    throw malformed(`${at}.jwk is not a public key`);
  }
}

/** The members in the one spelling that they have: else the same key would have several thumbprints. */
function publicMembersOf(
  jwk: PresentedKey["jwk"],
  publicKey: KeyObject,
  at: string,
): PublicKeyMembers & { readonly kty: string } {
  const exported = publicKey.export({ format: "jwk" });
  const names = (["crv", "x", "y", "n", "e"] as const).filter(
    (member) => exported[member] !== undefined || jwk[member] !== undefined,
  );
  const odd = names.find((member) => jwk[member] !== exported[member]);
  if (odd !== undefined) throw malformed(`${at}.jwk.${odd} is not written as RFC 7518 has it`);
  const members = Object.fromEntries(names.map((member) => [member, exported[member]]));
  return { ...members, kty: String(exported.kty) };
}

function requireUse({ use, key_ops, kid }: PresentedKey["jwk"], thumbprint: string, at: string): void {
  if (use !== undefined && use !== "sig") throw malformed(`${at}.jwk.use must be sig`);
  if (key_ops !== undefined && !(Array.isArray(key_ops) && key_ops.includes("verify")))
    throw malformed(`${at}.jwk.key_ops must have verify in it`);
  if (kid !== undefined && kid !== thumbprint)
    throw malformed(`${at}.jwk.kid must be the key's RFC 7638 thumbprint, ${thumbprint}, or be left out`);
}

function algOf({ alg }: PresentedKey["jwk"], publicKey: KeyObject, at: string): AgentAlg {
  if (alg === undefined) {
    const chosen = defaultAgentAlg(publicKey);
    if (chosen) return chosen;
    throw refused("unsupported_alg", `${at}.jwk must be P-256, P-384, Ed25519 or RSA from 2048 to 8192 bits`);
  }
  if (!isAgentAlg(alg)) throw refused("unsupported_alg", `${at}.jwk.alg is not one that agents sign with`);
  if (!fitsAgentAlg({ publicKey, alg })) throw refused("unsupported_alg", `${at}.jwk is no key for ${alg}`);
  return alg;
}

/** Beside the key, or in it (RFC 7517 §4.7). */
function chainIn({ jwk, x5c }: PresentedKey, at: string): readonly string[] {
  const inside = jwk["x5c"];
  if (inside === undefined) return x5c ?? [];
  if (!Array.isArray(inside) || inside.some((one) => typeof one !== "string"))
    throw malformed(`${at}.jwk.x5c must be a list of base64 texts`);
  if (x5c && JSON.stringify(x5c) !== JSON.stringify(inside))
    throw malformed(`${at} has two different lists x5c`);
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
  // What nobody has checked is not published in the pool's name.
  if (trustedRoots.length === 0)
    throw refused("chain_invalid", `${at}.x5c cannot be checked: the pool has no trusted roots`);
  const fault = await x5cChainFault({ x5c, trustedRoots, publicJwk, subjectUri, now });
  if (fault) throw refused("chain_invalid", `${at}.x5c: ${fault}`);
}
