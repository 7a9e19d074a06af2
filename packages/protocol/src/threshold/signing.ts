/**
 * Round two of FROST-ED25519-SHA512-v1 (RFC 9591 §4.4 to §5.3). Noble's is the reference, which tests compare this with; it checks the order
 * of every point in every signature, which is most of its time. Here that is done when a signature is none (`aggregateShares`): the points
 * of others are multiplied by public scalars only, and a signature is verified before it is given out.
 */
import { hash, randomBytes } from "node:crypto";
import { ed25519 } from "@noble/curves/ed25519.js";
import { frostIdentifier, type NonceCommitment } from "./group.ts";

const CONTEXT = "FROST-ED25519-SHA512-v1";
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

/** Two nonces and the commitments to them (RFC 9591 §4.1, §5.1): of fresh randomness and the share, should the randomness be bad. */
export function newNonces(signingShare: Uint8Array) {
  const make = () => {
    const nonce = toScalar(sha512(`${CONTEXT}nonce`, randomBytes(32), signingShare));
    const point = Point.BASE.multiply(nonce).toBytes();
    return { nonce: Fn.toBytes(nonce), commitment: Buffer.from(point).toString("base64url") };
  };
  const [hiding, binding] = [make(), make()];
  return {
    nonces: { hiding: hiding.nonce, binding: binding.nonce },
    commitment: { hiding: hiding.commitment, binding: binding.commitment },
  };
}

export interface SigningRound {
  /** base64url. */
  readonly publicKey: string;
  readonly message: Uint8Array;
  readonly commitments: readonly NonceCommitment[];
}

/** What all who take part reckon alike: the group commitment, the challenge, and each member's factors. */
export function roundOf({ publicKey, message, commitments }: SigningRound) {
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
  const factors = new Map(list.map(({ kid, identifier }) => [kid, toScalar(sha512(...prefix, identifier))]));
  const pointOf = (text: string) => Point.fromBytes(new Uint8Array(bytesOf(text)));
  let sum = sumOfProducts(list.map(({ kid, binding }) => [pointOf(binding), factors.get(kid) ?? 0n]));
  for (const { hiding } of list) sum = sum.add(pointOf(hiding));
  const commitment = sum.toBytes();
  const challenge = toScalar(sha512(commitment, bytesOf(publicKey), message));
  return { list, factors, commitment, challenge };
}

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

export interface OwnSecrets {
  readonly kid: string;
  readonly signingShare: Uint8Array;
  /** Of the commitment that is in the round under this kid: whoever keeps it makes sure. Overwritten with zeros. */
  readonly nonces: { readonly hiding: Uint8Array; readonly binding: Uint8Array };
}

/** RFC 9591 §5.2. @returns base64url. @throws Error for nonces that were used, or a member that is not in the round */
export function signatureShare(round: SigningRound, { kid, signingShare, nonces }: OwnSecrets): string {
  const [hiding, binding] = [Fn.fromBytes(nonces.hiding), Fn.fromBytes(nonces.binding)];
  if (hiding === 0n || binding === 0n) throw new Error("these nonces were used");
  const { list, factors, challenge } = roundOf(round);
  const own = list.find((one) => one.kid === kid);
  const factor = factors.get(kid);
  if (!own || factor === undefined) throw new Error("not a member of the round");
  const secret = Fn.mul(Fn.mul(interpolation(list, own.x), Fn.fromBytes(signingShare)), challenge);
  const share = Fn.add(Fn.add(hiding, Fn.mul(binding, factor)), secret);
  nonces.hiding.fill(0);
  nonces.binding.fill(0);
  return Buffer.from(Fn.toBytes(share)).toString("base64url");
}

/** RFC 9591 §5.3: verify it before it is given out. @returns base64url. @throws Error for what is no scalar */
export function addShares(round: SigningRound, shares: readonly Uint8Array[]): string {
  const sum = shares.reduce((total, share) => Fn.add(total, Fn.fromBytes(share)), 0n);
  return Buffer.concat([roundOf(round).commitment, Fn.toBytes(sum)]).toString("base64url");
}
