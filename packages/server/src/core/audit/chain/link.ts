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

export const headMac = (key: Uint8Array, { orgId, seq, hash }: ChainHead): string =>
  createHmac("sha256", key)
    .update(JSON.stringify(["signet audit head v1", orgId, seq, hash]))
    .digest("base64url");

export function isSignedHead(key: Uint8Array, head: ChainHead & { readonly mac: string }): boolean {
  const [right, given] = [headMac(key, head), head.mac].map((text) => Buffer.from(text));
  return (
    right !== undefined &&
    given !== undefined &&
    right.length === given.length &&
    timingSafeEqual(right, given)
  );
}
