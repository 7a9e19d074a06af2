/**
 * How an organisation's audit events hang together: each one's hash is over the event and the hash before it, and the end
 * of the chain is signed with a key that the database does not hold. Whoever has the database alone can neither change
 * what is chained nor sign a new end.
 */
import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { deriveKey } from "../../encryption/encryption.ts";

/** Before the first event. */
export const NO_HASH = "";

/** The members of an event that its hash is over. */
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
  /** The text, as it is kept. */
  readonly details: string;
}

/** The end of a chain. */
export interface ChainHead {
  readonly orgId: string;
  readonly seq: number;
  readonly hash: string;
}

/** The same, and when it came to be that: the list of events says so. */
export interface MovedHead extends ChainHead {
  /** Milliseconds. */
  readonly updatedAt: number;
}

/** @returns base64url of SHA-256 over a JSON array: no two events have the same text */
export function linkHash(previous: string, event: ChainedEvent): string {
  const { orgId, seq, id, at, actor, action, target, address, details } = event;
  const text = JSON.stringify([
    "signet audit v1",
    previous,
    orgId,
    seq,
    id,
    at,
    actor,
    action,
    target,
    address,
    details,
  ]);
  return createHash("sha256").update(text).digest("base64url");
}

export const chainKey = (masterKey: Uint8Array): Buffer => deriveKey(masterKey, "audit-chain");

export const headMac = (key: Uint8Array, { orgId, seq, hash, updatedAt }: MovedHead): string =>
  macOf(key, ["signet audit head v2", orgId, seq, hash, updatedAt]);

/** Of a chain that has not moved since the time was not signed yet: its next event signs it as above. */
const firstMac = (key: Uint8Array, { orgId, seq, hash }: ChainHead): string =>
  macOf(key, ["signet audit head v1", orgId, seq, hash]);

const macOf = (key: Uint8Array, members: readonly unknown[]): string =>
  createHmac("sha256", key).update(JSON.stringify(members)).digest("base64url");

export function isSignedHead(key: Uint8Array, head: MovedHead & { readonly mac: string }): boolean {
  const given = Buffer.from(head.mac);
  return [headMac(key, head), firstMac(key, head)]
    .map((mac) => Buffer.from(mac))
    .some((right) => right.length === given.length && timingSafeEqual(right, given));
}
