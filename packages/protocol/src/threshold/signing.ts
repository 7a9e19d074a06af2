/**
 * What everyone reckons alike in a round of FROST-ED25519-SHA512-v1 (RFC 9591 §4.4 to §5.3): factors, challenge, group commitment. All of
 * it is public, and its time depends on it; what a member reckons with its secrets is the agent's. Noble's is the reference, which tests
 * compare this with; it checks the order of every point in every signature, which is most of its time. Here that is done when a
 * signature is none (`aggregateShares`): the points of others are multiplied by public scalars only, and a signature is verified before it
 * is given out.
 */
import { hash } from "node:crypto";
import { ed25519 } from "@noble/curves/ed25519.js";
import { frostIdentifier, type NonceCommitment } from "./group.ts";

export const CONTEXT = "FROST-ED25519-SHA512-v1";
const { Point } = ed25519;
const { Fn } = Point;

const sha512 = (...parts: readonly (Uint8Array | string)[]): Buffer =>
  hash("sha512", Buffer.concat(parts.map((part) => Buffer.from(part as Uint8Array))), "buffer");

/** A 512-bit little-endian number modulo the group's order (RFC 9591 §6.1, H1 and H2). */
const toScalar = (digest: Buffer): bigint =>
  Fn.create(BigInt(`0x${Buffer.from(digest).reverse().toString("hex")}`));

const bytesOf = (text: string): Buffer => Buffer.from(text, "base64url");

interface Committed extends NonceCommitment {
  readonly identifier: Buffer;
  readonly x: bigint;
}

/** Sorted by identifier (RFC 9591 §4.3). @throws Error when a member is there twice */
function sorted(commitments: readonly NonceCommitment[]): Committed[] {
  const list = commitments.map((one) => {
    const identifier = Buffer.from(frostIdentifier(one.kid), "hex");
    return { ...one, identifier, x: Fn.fromBytes(new Uint8Array(identifier)) };
  });
  list.sort((one, other) => (one.x < other.x ? -1 : 1));
  if (new Set(list.map(({ x }) => x)).size < list.length) throw new Error("a member signs once");
  return list;
}

type CurvePoint = InstanceType<typeof Point>;

const WINDOW = 4;
const SCALAR_BITS = 256;

/** All products at once, with the doublings in common (Straus). The scalars are public: its time depends on them. */
function sumOfProducts(pairs: ReadonlyArray<readonly [CurvePoint, bigint]>): CurvePoint {
  const tables = pairs.map(([point, scalar]) => {
    const multiples = [Point.ZERO];
    for (let index = 1; index < 1 << WINDOW; index++)
      multiples.push((multiples[index - 1] ?? point).add(point));
    return { multiples, scalar };
  });
  let sum = Point.ZERO;
  for (let bit = SCALAR_BITS - WINDOW; bit >= 0; bit -= WINDOW) {
    for (let doubling = 0; doubling < WINDOW; doubling++) sum = sum.double();
    for (const { multiples, scalar } of tables) {
      const digit = Number((scalar >> BigInt(bit)) & 15n);
      const multiple = multiples[digit];
      if (digit !== 0 && multiple) sum = sum.add(multiple);
    }
  }
  return sum;
}

export interface SigningRound {
  /** base64url. */
  readonly publicKey: string;
  readonly message: Uint8Array;
  readonly commitments: readonly NonceCommitment[];
}

/** Who signs, sorted, each with its binding factor (RFC 9591 §4.4). @throws Error when a member is there twice */
export function boundSigners({ publicKey, message, commitments }: SigningRound) {
  const list = sorted(commitments);
  const encoded = list.flatMap(({ identifier, hiding, binding }) => [
    identifier,
    bytesOf(hiding),
    bytesOf(binding),
  ]);
  const prefix = [
    ...[`${CONTEXT}rho`, bytesOf(publicKey), sha512(`${CONTEXT}msg`, message)],
    sha512(`${CONTEXT}com`, ...encoded),
  ];
  return list.map((one) => ({ ...one, factor: toScalar(sha512(...prefix, one.identifier)) }));
}

/** RFC 9591 §4.5. @throws Error for what is no point */
export function groupCommitment(
  signers: ReadonlyArray<Pick<NonceCommitment, "hiding" | "binding"> & { readonly factor: bigint }>,
): Uint8Array {
  const pointOf = (text: string) => Point.fromBytes(new Uint8Array(bytesOf(text)));
  let sum = sumOfProducts(signers.map(({ binding, factor }) => [pointOf(binding), factor]));
  for (const { hiding } of signers) sum = sum.add(pointOf(hiding));
  return sum.toBytes();
}

/** RFC 9591 §4.6: the same as an ordinary Ed25519 signature's. @param commitment the group's */
export const challengeOf = (
  { publicKey, message }: Pick<SigningRound, "publicKey" | "message">,
  commitment: Uint8Array,
): bigint => toScalar(sha512(commitment, bytesOf(publicKey), message));

/** A member's factor in the sum at zero (RFC 9591 §4.2). */
export function interpolation(list: ReadonlyArray<{ readonly x: bigint }>, own: bigint): bigint {
  let [above, below] = [1n, 1n];
  for (const { x } of list) {
    if (x === own) continue;
    above = Fn.mul(above, x);
    below = Fn.mul(below, Fn.sub(x, own));
  }
  return Fn.div(above, below);
}

/** RFC 9591 §5.3: verify it before it is given out. @param commitment the group's. @throws Error for what is no scalar */
export function addShares(commitment: Uint8Array, shares: readonly Uint8Array[]): Buffer {
  const sum = shares.reduce((total, share) => Fn.add(total, Fn.fromBytes(share)), 0n);
  return Buffer.concat([commitment, Fn.toBytes(sum)]);
}
