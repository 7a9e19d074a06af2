/**
 * The hash chain of an organisation's audit events: each hash covers the event and the previous hash, and the head is
 * signed with a key outside the database. Database access alone allows neither changing chained events nor signing a
 * new head.
 */
import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { constantTimeEqual } from "@signet/protocol/hash";
import { deriveKey } from "../../encryption/key-ring.ts";

/** The hash before the first event. */
export const NO_HASH = "";

/** The members covered by an event's hash. */
export interface ChainedEvent {
  readonly orgId: string;
  /** From 1. */
  readonly seq: number;
  readonly id: string;
  readonly at: number;
  readonly actor: string;
  readonly action: string;
  readonly target: string | null;
  readonly address: string | null;
  /** As stored. */
  readonly details: string;
}

export interface ChainHead {
  readonly orgId: string;
  readonly seq: number;
  readonly hash: string;
}

/** A head with the time of its last move, for the list of events. */
export interface MovedHead extends ChainHead {
  /** Milliseconds. */
  readonly updatedAt: number;
}

/** @returns base64url of SHA-256 over a JSON array, which is unambiguous */
export function linkHash(previous: string, event: ChainedEvent): string {
  const { orgId, seq, id, at, actor, action, target, address, details } = event;
  const position = ["signet audit v1", previous, orgId, seq];
  const text = JSON.stringify([...position, id, at, actor, action, target, address, details]);
  return createHash("sha256").update(text).digest("base64url");
}

/** As it is made once: see `storedChainKey`. */
export const chainKey = (masterKey: Uint8Array): Buffer => deriveKey(masterKey, "audit-chain");

export const headMac = (key: Uint8Array, { orgId, seq, hash, updatedAt }: MovedHead): string =>
  macOf(key, ["signet audit head v2", orgId, seq, hash, updatedAt]);

/** The signature of heads from before the time was covered; the next event signs as above. */
const macV1 = (key: Uint8Array, { orgId, seq, hash }: ChainHead): string =>
  macOf(key, ["signet audit head v1", orgId, seq, hash]);

/** Where retention cut a chain: the events up to this position are gone, and the next one follows its hash. */
export interface Checkpoint extends ChainHead {
  /** How many are gone. */
  readonly events: number;
  readonly cutAt: number;
  /** When the last of them happened. */
  readonly until: number;
}

export const checkpointMac = (key: Uint8Array, one: Checkpoint): string =>
  macOf(key, ["signet audit checkpoint v1", one.orgId, one.seq, one.hash, one.events, one.cutAt, one.until]);

export const isSignedCheckpoint = (key: Uint8Array, one: Checkpoint & { readonly mac: string }): boolean =>
  constantTimeEqual(checkpointMac(key, one), one.mac);

const macOf = (key: Uint8Array, members: readonly unknown[]): string =>
  createHmac("sha256", key).update(JSON.stringify(members)).digest("base64url");

export function isSignedHead(key: Uint8Array, head: MovedHead & { readonly mac: string }): boolean {
  const given = Buffer.from(head.mac);
  return [headMac(key, head), macV1(key, head)]
    .map((mac) => Buffer.from(mac))
    .some((right) => right.length === given.length && timingSafeEqual(right, given));
}
