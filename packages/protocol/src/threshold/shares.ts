/** Signature shares of a group (RFC 9591 §5): put together, and the member named whose share is wrong. */
import { createPublicKey, verify } from "node:crypto";
import { ed25519_FROST } from "@noble/curves/ed25519.js";
import {
  bytes32,
  type FrostGroup,
  frostIdentifier,
  type NonceCommitment,
  readCurvePoint,
  readPoint,
  type ThresholdGroup,
} from "./group.ts";
import { addShares } from "./signing.ts";

export interface SignatureShare {
  readonly kid: string;
  /** A scalar, base64url. */
  readonly share: string;
}

/** Well-formed and different; whether they are points of the group shows when they are used. */
export const hasTwoPoints = ({ hiding, binding }: Omit<NonceCommitment, "kid">): boolean =>
  hiding !== binding && bytes32(hiding) !== undefined && bytes32(binding) !== undefined;

/** Two different points of the curve: an agent that published one twice would have no second nonce. */
export const isNonceCommitment = ({ hiding, binding }: Omit<NonceCommitment, "kid">): boolean =>
  hiding !== binding && readCurvePoint(hiding) !== undefined && readCurvePoint(binding) !== undefined;

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
  readonly message: Uint8Array;
  readonly commitments: readonly NonceCommitment[];
  readonly shares: readonly SignatureShare[];
}

/**
 * An ordinary Ed25519 signature (RFC 9591 §5.3), verified.
 * @returns the kids whose shares are wrong, when it is not one
 */
export function aggregateShares(signed: SharedSignature): { signature: string } | { wrong: string[] } {
  const { group, message, shares } = signed;
  const commitments = frostCommitments(signed.commitments);
  const byIdentifier: Record<string, Uint8Array> = {};
  for (const { kid, share } of shares) {
    const bytes = bytes32(share);
    if (!bytes) return { wrong: [kid] };
    byIdentifier[frostIdentifier(kid)] = bytes;
  }
  const signature = verified(signed, Object.values(byIdentifier));
  if (signature !== undefined) return { signature };
  const invalid = signed.commitments.filter((one) => !isOfGroup(one));
  if (invalid.length > 0) return { wrong: invalid.map(({ kid }) => kid) };
  const isRight = (one: SignatureShare) =>
    isRightShare(group.frost, {
      commitments,
      message,
      kid: one.kid,
      share: byIdentifier[frostIdentifier(one.kid)],
    });
  return { wrong: shares.filter((one) => !isRight(one)).map(({ kid }) => kid) };
}

function verified(
  { group, message, commitments }: SharedSignature,
  shares: readonly Uint8Array[],
): string | undefined {
  if (shares.length < group.threshold.min) return undefined;
  try {
    const signature = addShares({ publicKey: group.publicJwk.x, message, commitments }, shares);
    const key = createPublicKey({ key: { ...group.publicJwk }, format: "jwk" });
    return verify(null, message, key, Buffer.from(signature, "base64url")) ? signature : undefined;
  } catch {
    return undefined;
  }
}

interface OneShare {
  readonly commitments: ReturnType<typeof frostCommitments>;
  readonly message: Uint8Array;
  readonly kid: string;
  readonly share: Uint8Array | undefined;
}

/** RFC 9591 §5.4. */
function isRightShare(frost: FrostGroup, { commitments, message, kid, share }: OneShare): boolean {
  if (!share) return false;
  try {
    return ed25519_FROST.verifyShare(frost, commitments, message, frostIdentifier(kid), share);
  } catch {
    return false;
  }
}
