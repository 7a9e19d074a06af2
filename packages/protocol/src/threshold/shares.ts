/** Signature shares of a group (RFC 9591 §5): put together, and the member named whose share is wrong. */
import { type KeyObject, verify } from "node:crypto";
import { ed25519_FROST } from "@noble/curves/ed25519.js";
import {
  bytes32,
  type FrostGroup,
  frostIdentifier,
  isOnCurve,
  type NonceCommitment,
  readPoint,
  type ThresholdGroup,
} from "./group.ts";
import { addShares, boundSigners, groupCommitment } from "./signing.ts";

export interface SignatureShare {
  readonly kid: string;
  /** A scalar, or the group commitment that its member reckoned and the scalar; base64url. */
  readonly share: string;
}

/** Well-formed and different; whether they are points of the group shows when they are used. */
export const hasTwoPoints = ({ hiding, binding }: Omit<NonceCommitment, "kid">): boolean =>
  hiding !== binding && bytes32(hiding) !== undefined && bytes32(binding) !== undefined;

/** Two different points of the curve: an agent that published one twice would have no second nonce. */
export const isNonceCommitment = ({ hiding, binding }: Omit<NonceCommitment, "kid">): boolean =>
  hiding !== binding && isOnCurve(hiding) && isOnCurve(binding);

/** Of the prime-order group (RFC 9591 §3.1). Otherwise no signature comes of it, whatever its agent's share. */
const isOfGroup = ({ hiding, binding }: NonceCommitment): boolean =>
  readPoint(hiding) !== undefined && readPoint(binding) !== undefined;

export function frostCommitments(commitments: readonly NonceCommitment[]) {
  return commitments.map(({ kid, hiding, binding }) => ({
    identifier: frostIdentifier(kid),
    hiding: new Uint8Array(Buffer.from(hiding, "base64url")),
    binding: new Uint8Array(Buffer.from(binding, "base64url")),
  }));
}

export interface SharedSignature {
  readonly group: ThresholdGroup;
  /** The group's, as Node has it. */
  readonly publicKey: KeyObject;
  readonly message: Uint8Array;
  readonly commitments: readonly NonceCommitment[];
  readonly shares: readonly SignatureShare[];
}

interface GivenShare {
  readonly kid: string;
  readonly scalar: Uint8Array;
  /** The group's, as the member has it. */
  readonly commitment: Buffer | undefined;
}

/**
 * An ordinary Ed25519 signature (RFC 9591 §5.3), verified. A member that signs has to reckon the group commitment, and may give it with its
 * share: it is believed when all say the same and a signature comes of it, and reckoned here otherwise.
 * @returns the kids whose shares are wrong, when it is not one
 */
export function aggregateShares(signed: SharedSignature): { signature: string } | { wrong: string[] } {
  const given: GivenShare[] = [];
  for (const { kid, share } of signed.shares) {
    const read = readShare(share);
    if (!read) return { wrong: [kid] };
    given.push({ kid, ...read });
  }
  const [claimed, ...others] = given.flatMap(({ commitment }) => commitment ?? []);
  const isUndisputed = claimed && others.every((one) => one.equals(claimed));
  const made = isUndisputed && verified(signed, claimed, given);
  return made ? { signature: made } : reckoned(signed, given);
}

/** 32 or 64 bytes. */
function readShare(text: string): Omit<GivenShare, "kid"> | undefined {
  const bytes = Buffer.from(text, "base64url");
  const isWell = bytes.toString("base64url") === text && (bytes.length === 32 || bytes.length === 64);
  if (!isWell) return undefined;
  const scalar = new Uint8Array(bytes.subarray(-32));
  return { scalar, commitment: bytes.length === 64 ? bytes.subarray(0, 32) : undefined };
}

/** Nothing that the members say is believed. */
function reckoned(
  signed: SharedSignature,
  given: readonly GivenShare[],
): { signature: string } | { wrong: string[] } {
  const { group, message, commitments } = signed;
  const commitment = trueCommitment(signed);
  const isClaimWrong = (one: GivenShare) =>
    one.commitment !== undefined && commitment !== undefined && !one.commitment.equals(commitment);
  const signature = commitment && verified(signed, commitment, given);
  if (signature !== undefined && !given.some(isClaimWrong)) return { signature };
  const invalid = commitments.filter((one) => !isOfGroup(one));
  if (invalid.length > 0) return { wrong: invalid.map(({ kid }) => kid) };
  const list = frostCommitments(commitments);
  const isRight = (one: GivenShare) =>
    !isClaimWrong(one) && isRightShare(group.frost, { commitments: list, message, ...one });
  return { wrong: given.filter((one) => !isRight(one)).map(({ kid }) => kid) };
}

function trueCommitment({ group, message, commitments }: SharedSignature): Uint8Array | undefined {
  try {
    return groupCommitment(boundSigners({ publicKey: group.publicJwk.x, message, commitments }));
  } catch {
    return undefined;
  }
}

function verified(
  { group, message, publicKey }: SharedSignature,
  commitment: Uint8Array,
  given: readonly GivenShare[],
): string | undefined {
  if (given.length < group.threshold.min) return undefined;
  try {
    const scalars = given.map(({ scalar }) => scalar);
    const signature = addShares(commitment, scalars);
    return verify(null, message, publicKey, signature) ? signature.toString("base64url") : undefined;
  } catch {
    return undefined;
  }
}

interface OneShare extends GivenShare {
  readonly commitments: ReturnType<typeof frostCommitments>;
  readonly message: Uint8Array;
}

/** RFC 9591 §5.4. */
function isRightShare(frost: FrostGroup, { commitments, message, kid, scalar }: OneShare): boolean {
  try {
    return ed25519_FROST.verifyShare(frost, commitments, message, frostIdentifier(kid), scalar);
  } catch {
    return false;
  }
}
