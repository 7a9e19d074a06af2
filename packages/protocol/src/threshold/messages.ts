/**
 * What agents say to each other in a key ceremony, as compact JWS of their identity keys. The service relays them and cannot change one:
 * every agent verifies each, and the transcript, which operators compare on two machines, has them all.
 */
import { createPublicKey } from "node:crypto";
import { sha256Base64url } from "../hash.ts";
import { jwkThumbprint } from "../jose/jwk.ts";
import { decodeJwsUnverified, verifyJws } from "../jose/jws.ts";
import { bytes32, isThreshold, type MemberCommitment, readPoint, type Threshold } from "./group.ts";

export const JOIN_TYPE = "threshold-join+jwt";
export const SHARES_TYPE = "threshold-shares+jwt";
export const CONFIRMATION_TYPE = "threshold-confirmation+jwt";
export const ABORT_TYPE = "threshold-abort+jwt";

/** Of one ceremony of one pool: a message of another is none. */
export interface CeremonyRef {
  /** The pool's URL. */
  readonly pool: string;
  readonly ceremony: string;
}

export interface IdentityJwk {
  readonly kty: "OKP";
  readonly crv: "Ed25519";
  readonly x: string;
}

/** Round 1: who takes part, with what the others need of it. */
export interface Join extends MemberCommitment, Threshold, CeremonyRef {
  readonly jwk: IdentityJwk;
  /** X25519, made for this ceremony: the shares are encrypted to it. */
  readonly encryptionKey: string;
  /** That the member knows its first coefficient. */
  readonly proof: string;
}

/** Round 2: a share for each other member, encrypted to it, by kid. */
export interface SharesMessage extends CeremonyRef {
  readonly kid: string;
  /** Hash of all messages of round 1, as this member saw them. */
  readonly joins: string;
  readonly shares: Readonly<Record<string, string>>;
}

/** Round 3: the transcript and the group key that this member arrived at, once its operator has compared them. */
export interface Confirmation extends CeremonyRef {
  readonly kid: string;
  readonly transcript: string;
  readonly publicKey: string;
}

export interface Abort extends CeremonyRef {
  readonly kid: string;
  readonly reason: string;
  /** The member that the reason is about. */
  readonly about?: string;
}

/** The kid that a message claims to be of; nothing is verified. */
export function claimedKid(message: string): string | undefined {
  const kid = decodeJwsUnverified(message)?.header["kid"];
  return typeof kid === "string" ? kid : undefined;
}

/** The identity key that a message names as its own; nothing is verified. */
export function claimedJwk(message: string): IdentityJwk | undefined {
  const claimed = decodeJwsUnverified(message)?.payload["jwk"] as Partial<IdentityJwk> | undefined;
  if (claimed?.kty !== "OKP" || claimed.crv !== "Ed25519" || !bytes32(claimed.x)) return undefined;
  return { kty: "OKP", crv: "Ed25519", x: String(claimed.x) };
}

/** @returns undefined unless it is signed by the key in it */
export function readJoin(message: string, expected: CeremonyRef): Join | undefined {
  const jwk = claimedJwk(message);
  const payload = jwk && verified(message, jwk, JOIN_TYPE, expected);
  if (!payload) return undefined;
  const { min, max, encryptionKey, commitment, proof } = payload;
  const isWell =
    typeof min === "number" &&
    typeof max === "number" &&
    isThreshold({ min, max }) &&
    bytes32(encryptionKey) !== undefined &&
    typeof proof === "string" &&
    /^[A-Za-z0-9_-]{86}$/.test(proof) &&
    Array.isArray(commitment) &&
    commitment.length === min &&
    commitment.every((point) => readPoint(point) !== undefined);
  if (!isWell) return undefined;
  return {
    ...expected,
    kid: jwkThumbprint(jwk),
    jwk,
    min,
    max,
    encryptionKey: String(encryptionKey),
    commitment: commitment as string[],
    proof,
  };
}

export function readShares(
  message: string,
  jwk: IdentityJwk,
  expected: CeremonyRef,
): SharesMessage | undefined {
  const payload = verified(message, jwk, SHARES_TYPE, expected);
  const { joins, shares } = payload ?? {};
  const sealed = readSealedShares(shares);
  if (!bytes32(joins) || !sealed) return undefined;
  return { ...expected, kid: jwkThumbprint(jwk), joins: String(joins), shares: sealed };
}

/** Encrypted shares, by the kid of whom they are for. */
export function readSealedShares(shares: unknown): Readonly<Record<string, string>> | undefined {
  if (typeof shares !== "object" || shares === null) return undefined;
  const entries = Object.entries(shares);
  const isWell = entries.every(
    ([kid, sealed]) => kid.length === 43 && typeof sealed === "string" && /^[A-Za-z0-9_-]{80}$/.test(sealed),
  );
  return isWell ? (Object.fromEntries(entries) as Record<string, string>) : undefined;
}

export function readConfirmation(
  message: string,
  jwk: IdentityJwk,
  expected: CeremonyRef,
): Confirmation | undefined {
  const { transcript, publicKey } = verified(message, jwk, CONFIRMATION_TYPE, expected) ?? {};
  if (!bytes32(transcript) || !bytes32(publicKey)) return undefined;
  return {
    ...expected,
    kid: jwkThumbprint(jwk),
    transcript: String(transcript),
    publicKey: String(publicKey),
  };
}

const MAX_REASON = 200;

export function readAbort(message: string, jwk: IdentityJwk, expected: CeremonyRef): Abort | undefined {
  const { reason, about } = verified(message, jwk, ABORT_TYPE, expected) ?? {};
  if (typeof reason !== "string" || reason === "" || reason.length > MAX_REASON) return undefined;
  const named = typeof about === "string" && about.length === 43 ? { about } : {};
  return { ...expected, kid: jwkThumbprint(jwk), reason, ...named };
}

/** @returns the payload of a message for this ceremony that is signed by the key */
export function verified(
  message: string,
  jwk: IdentityJwk,
  typ: string,
  expected: CeremonyRef,
): Record<string, unknown> | undefined {
  const kid = jwkThumbprint(jwk);
  const publicKey = createPublicKey({ key: { ...jwk }, format: "jwk" });
  const found = verifyJws(message, (named) => (named === kid ? { publicKey, alg: "EdDSA" } : undefined), {
    typ: [typ],
  });
  const { payload } = found ?? {};
  return payload?.["aud"] === expected.pool && payload["ceremony"] === expected.ceremony
    ? payload
    : undefined;
}

/** By kid, so that the order in which messages arrived is of no matter. */
export interface KeptMessage {
  readonly kid: string;
  readonly message: string;
}

/** What every member of round 2 saw of round 1. */
export const joinsHash = (joins: readonly KeptMessage[]): string =>
  sha256Base64url(`signet-threshold-joins-v1\n${lines(joins)}`);

/** All that was said before the confirmations. Members that were shown different messages have different ones. */
export function transcriptHash(
  { pool, ceremony }: CeremonyRef,
  { min, max }: Threshold,
  said: { readonly joins: readonly KeptMessage[]; readonly shares: readonly KeptMessage[] },
): string {
  const head = `signet-threshold-transcript-v1\n${pool}\n${ceremony}\n${min} of ${max}`;
  return sha256Base64url(`${head}\n${lines(said.joins)}\n${lines(said.shares)}`);
}

/** Each message's hash, by kid. */
export const lines = (messages: readonly KeptMessage[]): string =>
  messages
    .map(({ kid, message }) => `${kid} ${sha256Base64url(message)}`)
    .toSorted()
    .join("\n");

/** As operators read it to each other: 16 groups of four. */
export const spokenHash = (hash: string): string =>
  (Buffer.from(hash, "base64url").toString("hex").match(/.{4}/g) ?? []).join("-");
