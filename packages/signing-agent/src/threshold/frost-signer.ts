/**
 * What a member of a group reckons with its secrets: nonces, and its share of a signature (RFC 9591 §4.1, §5.2). By libsodium, whose time
 * does not depend on scalars: no secret of a signature is ever a bigint
 * (docs/decisions/2026-11-29-threshold-arithmetic.md).
 */
import { hash, randomBytes } from "node:crypto";
import type { NonceCommitment } from "@signet/protocol/threshold/group";
import {
  boundSigners,
  CONTEXT,
  challengeOf,
  groupCommitment,
  interpolation,
  type SigningRound,
} from "@signet/protocol/threshold/signing";

export interface OwnSecrets {
  readonly kid: string;
  readonly signingShare: Uint8Array;
  /** Of the commitment that is in the round under this kid: whoever keeps it makes sure. Overwritten with zeros. */
  readonly nonces: { readonly hiding: Uint8Array; readonly binding: Uint8Array };
}

export interface NewNonces {
  readonly nonces: { readonly hiding: Uint8Array; readonly binding: Uint8Array };
  readonly commitment: Omit<NonceCommitment, "kid">;
}

export interface FrostSigner {
  /**
   * Two nonces and the commitments to them (RFC 9591 §4.1, §5.1), of fresh randomness and the share, should the randomness be bad.
   * @param random given by tests of the RFC's vectors alone
   */
  newNonces(signingShare: Uint8Array, random?: (bytes: number) => Uint8Array): NewNonces;
  /**
   * RFC 9591 §5.2.
   * @returns the group commitment, which the service would have to reckon again, and the share; base64url
   * @throws Error for nonces that were used, or a member that is not in the round
   */
  signatureShare(round: SigningRound, own: OwnSecrets): string;
}

type Sodium = typeof import("libsodium-wrappers-sumo");

/** Loaded by agents of threshold pools alone: it is a megabyte. */
export async function openFrostSigner(): Promise<FrostSigner> {
  const sodium = await import("libsodium-wrappers-sumo");
  await sodium.ready;
  const signer = (sodium as unknown as { readonly default?: Sodium }).default ?? sodium;
  return {
    newNonces: (signingShare, random = randomBytes) => newNonces(signer, signingShare, random),
    signatureShare: (round, own) => signatureShare(signer, round, own),
  };
}

function newNonces(
  sodium: Sodium,
  signingShare: Uint8Array,
  random: (bytes: number) => Uint8Array,
): NewNonces {
  const make = () => {
    const nonce = nonceOf(sodium, random(32), signingShare);
    const point = sodium.crypto_scalarmult_ed25519_base_noclamp(nonce);
    return { nonce, commitment: Buffer.from(point).toString("base64url") };
  };
  const [hiding, binding] = [make(), make()];
  return {
    nonces: { hiding: hiding.nonce, binding: binding.nonce },
    commitment: { hiding: hiding.commitment, binding: binding.commitment },
  };
}

function nonceOf(sodium: Sodium, random: Uint8Array, signingShare: Uint8Array): Uint8Array {
  const seed = Buffer.concat([Buffer.from(`${CONTEXT}nonce`), random, signingShare]);
  const digest = hash("sha512", seed, "buffer");
  const nonce = sodium.crypto_core_ed25519_scalar_reduce(digest);
  seed.fill(0);
  digest.fill(0);
  return nonce;
}

function signatureShare(sodium: Sodium, round: SigningRound, { kid, signingShare, nonces }: OwnSecrets) {
  const { hiding, binding } = nonces;
  if (isZero(hiding) || isZero(binding)) throw new Error("these nonces were used");
  const signers = boundSigners(round);
  const own = signers.find((one) => one.kid === kid);
  if (!own) throw new Error("not a member of the round");
  const add = sodium.crypto_core_ed25519_scalar_add;
  const multiply = sodium.crypto_core_ed25519_scalar_mul;
  const nonce = add(hiding, multiply(binding, scalarOf(own.factor)));
  const others = signers.filter((one) => one !== own);
  const commitment = commitmentWith(sodium, nonce, others) ?? groupCommitment(signers);
  const challenge = challengeOf(round, commitment);
  const weight = weightOf(signers, own);
  const share = add(nonce, multiply(multiply(weight, signingShare), scalarOf(challenge)));
  for (const secret of [hiding, binding, nonce]) secret.fill(0);
  return Buffer.concat([commitment, share]).toString("base64url");
}

type Signer = ReturnType<typeof boundSigners>[number];

/** Of as many sets of signers as a group has, and more. */
const MAX_WEIGHTS = 1_000;
const weights = new Map<string, Uint8Array>();

/** The member's factor in the sum, which is the same whenever these sign (RFC 9591 §4.2). Public. */
function weightOf(signers: readonly Signer[], own: Signer): Uint8Array {
  const name = [own, ...signers].map(({ kid }) => kid).join(" ");
  const found = weights.get(name);
  if (found) return found;
  const weight = scalarOf(interpolation(signers, own.x));
  if (weights.size >= MAX_WEIGHTS) weights.clear();
  weights.set(name, weight);
  return weight;
}

/**
 * The group commitment (RFC 9591 §4.5), of which the own part is a product of the base point.
 * @returns undefined for a point outside the prime-order group: the service names whose it is, once no signature comes of it
 */
function commitmentWith(
  sodium: Sodium,
  nonce: Uint8Array,
  others: readonly Signer[],
): Uint8Array | undefined {
  try {
    let sum = sodium.crypto_scalarmult_ed25519_base_noclamp(nonce);
    for (const { hiding, binding, factor } of others) {
      const part = sodium.crypto_scalarmult_ed25519_noclamp(scalarOf(factor), pointOf(binding));
      sum = sodium.crypto_core_ed25519_add(sum, part);
      sum = sodium.crypto_core_ed25519_add(sum, pointOf(hiding));
    }
    return sum;
  } catch {
    return undefined;
  }
}

const pointOf = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, "base64url"));

/** Of what everybody may know. */
const scalarOf = (value: bigint): Uint8Array =>
  new Uint8Array(Buffer.from(value.toString(16).padStart(64, "0"), "hex").reverse());

const isZero = (bytes: Uint8Array): boolean => bytes.every((byte) => byte === 0);
