/**
 * A group key of FROST-ED25519-SHA512 (RFC 9591) as everyone may see it: its public key and its members' verifying shares follow from
 * what the members committed to in the key ceremony. Nothing here knows a secret.
 */
import { ed25519, ed25519_FROST } from "@noble/curves/ed25519.js";
import { jwkThumbprint } from "../jose/jwk.ts";

/** The most and the fewest members of a group, and the fewest that sign. */
export const MIN_SIGNERS = 2;
export const MAX_SIGNERS = 9;

export interface Threshold {
  /** Members that it takes to sign. */
  readonly min: number;
  /** Members. */
  readonly max: number;
}

export function isThreshold({ min, max }: Threshold): boolean {
  const isWhole = Number.isInteger(min) && Number.isInteger(max);
  return isWhole && MIN_SIGNERS <= min && min <= max && max <= MAX_SIGNERS;
}

/** What a member committed to: a point for each coefficient of its polynomial, base64url. */
export interface MemberCommitment {
  /** The thumbprint of the member's identity key. */
  readonly kid: string;
  readonly commitment: readonly string[];
}

/** A member's two nonce commitments (RFC 9591 §5.1), base64url. Used for one signature, never again. */
export interface NonceCommitment {
  readonly kid: string;
  readonly hiding: string;
  readonly binding: string;
}

/** Noble's form of a group's public data. */
export type FrostGroup = Parameters<typeof ed25519_FROST.verifyShare>[0];

export interface ThresholdGroup {
  readonly threshold: Threshold;
  /** Of the members' identity keys. */
  readonly members: readonly string[];
  readonly frost: FrostGroup;
  /** An ordinary Ed25519 key (RFC 8037). */
  readonly publicJwk: { readonly kty: "OKP"; readonly crv: "Ed25519"; readonly x: string };
  /** RFC 7638. */
  readonly kid: string;
}

/** Identity keys that a process meets again and again. */
const MAX_KNOWN = 1_000;
const known = new Map<string, string>();

/** The member's x-coordinate: nobody hands it out, so that nobody can hand out the same twice. */
export function frostIdentifier(kid: string): string {
  const found = known.get(kid);
  if (found !== undefined) return found;
  const identifier = ed25519_FROST.Identifier.derive(kid);
  if (known.size >= MAX_KNOWN) known.clear();
  known.set(kid, identifier);
  return identifier;
}

/** Canonical base64url of 32 bytes; undefined otherwise. */
export function bytes32(text: unknown): Uint8Array | undefined {
  if (typeof text !== "string" || text.length !== 43) return undefined;
  const bytes = Buffer.from(text, "base64url");
  return bytes.length === 32 && bytes.toString("base64url") === text ? new Uint8Array(bytes) : undefined;
}

export type Point = InstanceType<typeof ed25519.Point>;

/** A point of the prime-order group other than its identity (RFC 9591 §3.1, §6.1). */
export function readPoint(text: unknown): Point | undefined {
  const bytes = bytes32(text);
  if (!bytes) return undefined;
  try {
    const point = ed25519.Point.fromBytes(bytes);
    return !point.is0() && point.isTorsionFree() ? point : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Whether it is a point of the curve, with an x that is not zero (RFC 8032 §5.1.3), in a twentieth of the time that `readPoint` takes:
 * whether it is of the prime-order group is not checked, and its x not reckoned, only that there is one. For what is public.
 */
export function isOnCurve(text: unknown): boolean {
  const bytes = bytes32(text);
  if (!bytes) return false;
  const { p, d } = ed25519.Point.CURVE();
  const y = BigInt(`0x${Buffer.from(bytes).reverse().toString("hex")}`) & SIGNLESS;
  const square = (y * y) % p;
  // x² = (y² - 1) / (d·y² + 1): a quotient is a square when the product is one. The divisor is never zero.
  return y < p && jacobi(((square - 1n) * (d * square + 1n)) % p, p) === 1;
}

const SIGNLESS = (1n << 255n) - 1n;

const LOW_BITS = 30;
const LOW = (1n << BigInt(LOW_BITS)) - 1n;

/** Of a prime n: 1 for squares, -1 for others, 0 for zero. */
function jacobi(of: bigint, odd: bigint): number {
  let [a, n, sign] = [of < 0n ? of + odd : of, odd, 1];
  while (a !== 0n) {
    for (let low = Number(a & LOW); (low & 1) === 0; low = Number(a & LOW)) {
      // All zeros at the end, or as many as are in sight.
      const zeros = low === 0 ? LOW_BITS : 31 - Math.clz32(low & -low);
      a >>= BigInt(zeros);
      const rest = Number(n & 7n);
      if (zeros % 2 === 1 && (rest === 3 || rest === 5)) sign = -sign;
    }
    if ((a & n & 3n) === 3n) sign = -sign;
    [a, n] = [n % a, a];
  }
  return n === 1n ? sign : 0;
}

/** @returns undefined when the commitments do not make a group key: too few or invalid ones, or a sum without a key */
export function groupOf(
  members: readonly MemberCommitment[],
  threshold: Threshold,
): ThresholdGroup | undefined {
  const kids = members.map(({ kid }) => kid);
  const sums = isThreshold(threshold) ? sumCommitments(members, threshold) : undefined;
  return sums && groupFromPoints(kids, threshold, sums);
}

/**
 * @param points commitments to the coefficients of the group's polynomial
 * @returns undefined unless there are `max` different members and `min` points that are not the identity
 */
export function groupFromPoints(
  members: readonly string[],
  threshold: Threshold,
  points: readonly Point[],
): ThresholdGroup | undefined {
  const kids = members.toSorted();
  const [first] = points;
  if (!isThreshold(threshold) || kids.length !== threshold.max || new Set(kids).size < kids.length)
    return undefined;
  if (!first || points.length !== threshold.min || points.some((point) => point.is0())) return undefined;
  const shares = kids.map((kid) => [frostIdentifier(kid), verifyingShare(points, frostIdentifier(kid))]);
  const x = Buffer.from(first.toBytes()).toString("base64url");
  const publicJwk = { kty: "OKP", crv: "Ed25519", x } as const;
  return {
    threshold,
    members: kids,
    frost: {
      signers: { min: threshold.min, max: threshold.max },
      commitments: points.map((point) => point.toBytes()),
      verifyingShares: Object.fromEntries(shares) as Record<string, Uint8Array>,
    },
    publicJwk,
    kid: jwkThumbprint(publicJwk),
  };
}

function sumCommitments(members: readonly MemberCommitment[], { min }: Threshold): Point[] | undefined {
  const sums: Point[] = [];
  for (let index = 0; index < min; index++) {
    let sum = ed25519.Point.ZERO;
    for (const { commitment } of members) {
      const point = commitment.length === min ? readPoint(commitment[index]) : undefined;
      if (!point) return undefined;
      sum = sum.add(point);
    }
    sums.push(sum);
  }
  return sums;
}

/** The point of the summed polynomial at the member's place (RFC 9591, Appendix C.2). */
function verifyingShare(sums: readonly Point[], identifier: string): Uint8Array {
  const { Fn } = ed25519.Point;
  const x = Fn.fromBytes(new Uint8Array(Buffer.from(identifier, "hex")));
  let point = ed25519.Point.ZERO;
  let power = Fn.ONE;
  for (const sum of sums) {
    point = point.add(sum.multiplyUnsafe(power));
    power = Fn.mul(power, x);
  }
  return point.toBytes();
}
