/**
 * Resharing: `min` members of a group deal its key to new members, who then have other shares of the same key (threshold-and-ledger.md §1).
 * What is said, and what follows from it without a secret: the service, the new members and those who leave reckon it alike.
 */
import { ed25519 } from "@noble/curves/ed25519.js";
import { sha256Base64url } from "../hash.ts";
import { jwkThumbprint } from "../jose/jwk.ts";
import {
  bytes32,
  frostIdentifier,
  groupFromPoints,
  isThreshold,
  type MemberCommitment,
  type Point,
  readPoint,
  type Threshold,
  type ThresholdGroup,
} from "./group.ts";
import {
  type CeremonyRef,
  claimedJwk,
  type IdentityJwk,
  type KeptMessage,
  lines,
  readConfirmation,
  readSealedShares,
  verified,
} from "./messages.ts";
import { interpolation } from "./signing.ts";

export const RESHARE_JOIN_TYPE = "threshold-reshare-join+jwt";
export const DEAL_TYPE = "threshold-deal+jwt";

/** Which key is shared anew, and in which ceremony. */
export interface Reshare extends CeremonyRef, Threshold {
  /** Of the group key. */
  readonly key: string;
}

/** Round 1: a new member, with the key that its share is to be encrypted to. */
export interface ReshareJoin extends KeptMessage {
  readonly jwk: IdentityJwk;
  /** X25519, made for this ceremony. */
  readonly encryptionKey: string;
}

/** The members and commitments that a group had: everything public about it follows. */
export interface PublicGroup {
  /** That the members have their shares from. */
  readonly ceremony: string;
  readonly members: readonly string[];
  /** To the coefficients of the group's polynomial, base64url. */
  readonly commitments: readonly string[];
}

/** Round 2: a member of the old group deals its share. */
export interface Deal extends KeptMessage, MemberCommitment {
  readonly jwk: IdentityJwk;
  /** Of the new members that its operator has agreed to. */
  readonly roster: string;
  readonly before: PublicGroup;
  /** X25519, made for this message. */
  readonly encryptionKey: string;
  /** A share for each new member, encrypted to it, by kid. */
  readonly shares: Readonly<Record<string, string>>;
}

/** Something in a resharing is wrong. */
export class ReshareFault extends Error {
  override name = "ReshareFault";
  readonly code: "swapped_message" | "invalid_share" | "wrong_key";
  /** The kid of the member at fault. */
  readonly about: string | undefined;
  constructor(code: ReshareFault["code"], message: string, about?: string) {
    super(message);
    this.code = code;
    this.about = about;
  }
}

/** @returns undefined unless it is signed by the key in it, for this key and threshold */
export function readReshareJoin(message: string, expected: Reshare): ReshareJoin | undefined {
  const jwk = claimedJwk(message);
  const payload = jwk && verified(message, jwk, RESHARE_JOIN_TYPE, expected);
  if (!payload) return undefined;
  const { min, max, key, encryptionKey } = payload;
  const isExpected = min === expected.min && max === expected.max && key === expected.key;
  if (!isExpected || !bytes32(encryptionKey)) return undefined;
  return { kid: jwkThumbprint(jwk), message, jwk, encryptionKey: String(encryptionKey) };
}

/** @returns undefined unless it is well-formed, and signed by the key in it */
export function readDeal(message: string, expected: Reshare): Deal | undefined {
  const jwk = claimedJwk(message);
  const payload = jwk && verified(message, jwk, DEAL_TYPE, expected);
  if (!payload) return undefined;
  const { roster, encryptionKey, commitment } = payload;
  const before = readPublicGroup(payload["before"], expected);
  const shares = readSealedShares(payload["shares"]);
  if (!before || !shares || !bytes32(roster) || !bytes32(encryptionKey)) return undefined;
  if (!arePoints(commitment, expected.min)) return undefined;
  return {
    ...{ kid: jwkThumbprint(jwk), message, jwk, before, commitment, shares },
    ...{ roster: String(roster), encryptionKey: String(encryptionKey) },
  };
}

const arePoints = (list: unknown, count: number): list is string[] =>
  Array.isArray(list) && list.length === count && list.every((point) => readPoint(point) !== undefined);

const MAX_ID = 100;

function readPublicGroup(value: unknown, { min, max }: Threshold): PublicGroup | undefined {
  const { ceremony, members, commitments } = (value ?? {}) as Partial<Record<keyof PublicGroup, unknown>>;
  if (typeof ceremony !== "string" || ceremony === "" || ceremony.length > MAX_ID) return undefined;
  const areKids = Array.isArray(members) && members.every((kid) => bytes32(kid) !== undefined);
  if (!areKids || members.length !== max || !arePoints(commitments, min)) return undefined;
  return { ceremony, members: members as string[], commitments };
}

/** What its members know of a group. */
export const publicGroup = ({ members, frost }: ThresholdGroup, ceremony: string): PublicGroup => ({
  ceremony,
  members,
  commitments: frost.commitments.map((point) => Buffer.from(point).toString("base64url")),
});

/** The same for all who have the same group, and for nobody else. */
export const publicGroupHash = ({ ceremony, members, commitments }: PublicGroup): string =>
  sha256Base64url(
    `signet-threshold-group-v1\n${ceremony}\n${members.toSorted().join(" ")}\n${commitments.join(" ")}`,
  );

export interface Roster {
  readonly joins: readonly ReshareJoin[];
  /** Operators compare it on every new machine before anything is dealt. */
  readonly hash: string;
}

/** The new members. @throws ReshareFault unless there is one message of each of `max` */
export function readRoster(reshare: Reshare, messages: readonly string[]): Roster {
  const { pool, ceremony, min, max, key } = reshare;
  const joins = messages.map((message) => {
    const join = readReshareJoin(message, reshare);
    if (!join)
      throw new ReshareFault("swapped_message", "a new member's message is not signed by its sender");
    return join;
  });
  if (joins.length !== max || new Set(joins.map(({ kid }) => kid)).size !== max)
    throw new ReshareFault("swapped_message", "there is not one message of each new member");
  const head = `signet-threshold-roster-v1\n${pool}\n${ceremony}\n${min} of ${max}\n${key}`;
  return { joins, hash: sha256Base64url(`${head}\n${lines(joins)}`) };
}

/**
 * A deal of a member of the old group, for all new members, of the share that it has: its first commitment is its verifying share.
 * @param before what is known of the old group; else what the deal says of it must fit the key
 * @throws ReshareFault
 */
export function checkDeal(
  reshare: Reshare,
  { joins, hash }: Roster,
  { message, before }: { readonly message: string; readonly before?: PublicGroup | undefined },
): { readonly deal: Deal; readonly old: ThresholdGroup } {
  const deal = readDeal(message, reshare);
  if (!deal) throw new ReshareFault("swapped_message", "a deal is not signed by its sender");
  const { kid, commitment, shares } = deal;
  if (deal.roster !== hash)
    throw new ReshareFault(
      "swapped_message",
      "a member dealt to other new members than this machine has",
      kid,
    );
  if (before && publicGroupHash(deal.before) !== publicGroupHash(before))
    throw new ReshareFault("wrong_key", "a member dealt a share of another group", kid);
  const points = deal.before.commitments.flatMap((point) => readPoint(point) ?? []);
  const { min, max } = reshare;
  const old = groupFromPoints(deal.before.members, { min, max }, points);
  if (old?.kid !== reshare.key)
    throw new ReshareFault("wrong_key", "a member dealt a share of another key", kid);
  const own = old.frost.verifyingShares[frostIdentifier(kid)];
  if (!old.members.includes(kid) || !own || Buffer.from(own).toString("base64url") !== commitment[0])
    throw new ReshareFault("invalid_share", "a member dealt another share than the one it has", kid);
  const isForAll =
    Object.keys(shares).length === joins.length && joins.every((join) => shares[join.kid] !== undefined);
  if (!isForAll) throw new ReshareFault("invalid_share", "a member did not deal to each new member", kid);
  return { deal, old };
}

export interface ReshareOutcome {
  readonly roster: Roster;
  readonly deals: readonly Deal[];
  readonly before: PublicGroup;
  readonly transcript: string;
  /** The new members, with the key as it was. */
  readonly group: ThresholdGroup;
  /** What a member's deal counts in the sum, by kid. */
  readonly factors: ReadonlyMap<string, bigint>;
}

/** What was said before the confirmations, by round. */
export interface ReshareSaid {
  readonly joins: readonly string[];
  readonly deals: readonly string[];
}

/** @param known the old group, by whoever has it from elsewhere. @throws ReshareFault */
export function reshareOutcome(reshare: Reshare, said: ReshareSaid, known?: PublicGroup): ReshareOutcome {
  const { pool, ceremony, min, max, key } = reshare;
  if (!isThreshold(reshare)) throw new ReshareFault("wrong_key", "the threshold is none");
  const roster = readRoster(reshare, said.joins);
  const [first] = said.deals.map((message) => checkDeal(reshare, roster, { message, before: known }));
  if (!first) throw new ReshareFault("swapped_message", "nobody has dealt");
  const { before } = first.deal;
  const deals = said.deals.map((message) => checkDeal(reshare, roster, { message, before }).deal);
  if (deals.length !== min || new Set(deals.map(({ kid }) => kid)).size !== min)
    throw new ReshareFault("swapped_message", `there is not one deal of each of ${min} members`);
  const factors = factorsOf(deals.map(({ kid }) => kid));
  const points = weightedSum(deals, factors, min);
  const group = groupFromPoints(
    roster.joins.map(({ kid }) => kid),
    { min, max },
    points,
  );
  if (group?.kid !== key) throw new ReshareFault("wrong_key", "the new shares are not of the same key");
  const head = `signet-threshold-reshare-v1\n${pool}\n${ceremony}\n${min} of ${max}\n${key}\n${publicGroupHash(before)}`;
  const transcript = sha256Base64url(`${head}\n${lines(roster.joins)}\n${lines(deals)}`);
  return { roster, deals, before, transcript, group, factors };
}

const { Fn } = ed25519.Point;

/** Each dealer's factor at zero, among these dealers. */
function factorsOf(kids: readonly string[]): ReadonlyMap<string, bigint> {
  const list = kids.map((kid) => ({ kid, x: identifierScalar(kid) }));
  return new Map(list.map(({ kid, x }) => [kid, interpolation(list, x)]));
}

export const identifierScalar = (kid: string): bigint =>
  Fn.fromBytes(new Uint8Array(Buffer.from(frostIdentifier(kid), "hex")));

function weightedSum(
  deals: readonly Deal[],
  factors: ReadonlyMap<string, bigint>,
  count: number,
): readonly Point[] {
  return Array.from({ length: count }, (_, index) => {
    let sum = ed25519.Point.ZERO;
    for (const { kid, commitment } of deals) {
      const point = readPoint(commitment[index]);
      if (point) sum = sum.add(point.multiplyUnsafe(factors.get(kid) ?? 0n));
    }
    return sum;
  });
}

/** A new member's share of the key. @param received what was dealt to it, verified, by the dealer's kid */
export function combineShares(
  { deals, factors }: { readonly deals: ReadonlyArray<Pick<Deal, "kid">> } & Pick<ReshareOutcome, "factors">,
  received: Readonly<Record<string, Uint8Array>>,
): Uint8Array {
  const sum = deals.reduce(
    (total, { kid }) =>
      Fn.add(total, Fn.mul(factors.get(kid) ?? 0n, Fn.fromBytes(received[kid] ?? new Uint8Array()))),
    0n,
  );
  return Fn.toBytes(sum);
}

/** Whether every new member has confirmed this outcome, each by its own signature. */
export function isConfirmedByAll(
  reshare: CeremonyRef,
  { roster, transcript, group }: Pick<ReshareOutcome, "roster" | "transcript" | "group">,
  messages: readonly string[],
): boolean {
  return roster.joins.every(({ jwk }) =>
    messages.some((message) => {
      const read = readConfirmation(message, jwk, reshare);
      return read?.transcript === transcript && read.publicKey === group.publicJwk.x;
    }),
  );
}
