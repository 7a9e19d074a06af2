/** Verifies an organisation's audit chain: every event, every position, and the head. */
import type { Db } from "../../../db/open.ts";
import { isAuditAction, isChangeOf } from "../actions.ts";
import { countUnchained, findChained, findHead, type SignedHead, type StoredLink } from "./chain.store.ts";
import { findCheckpoint, type SignedCheckpoint } from "./checkpoint.store.ts";
import { contextIndexChecker } from "./context-index.ts";
import { type Checkpoint, isSignedCheckpoint, isSignedHead, linkHash, NO_HASH } from "./link.ts";

/** A head that was recorded elsewhere. */
export interface Anchor {
  readonly seq: number;
  readonly hash: string;
}

export interface ChainFault {
  /** The first faulty position. */
  readonly seq: number;
  /** The id of the event at that position, if any. */
  readonly id?: string;
  /**
   * `changed`: the event, or what is indexed of it, is not what was chained. `missing`: the event is gone. `extra`: events exist beyond
   * the head. `head`: the head is not signed with this master key, or doesn't match the events. `anchor`: the chain
   * is intact but doesn't contain the recorded head. `checkpoint`: where the chain was cut is not signed with this master key.
   * `cut`: the recorded head is before the cut, where nothing is left to compare it with.
   */
  readonly kind: "changed" | "missing" | "extra" | "head" | "anchor" | "checkpoint" | "cut";
}

export interface Verification {
  readonly events: number;
  readonly headSeq: number;
  readonly headHash: string;
  /** Where retention cut the chain: the first event that is verified follows it. */
  readonly cut?: Checkpoint;
  /** Unchained events, counted up to a thousand. */
  readonly unchained: number;
  readonly fault?: ChainFault;
}

const BATCH = 500;
const MAX_UNCHAINED = 1_000;

/** Verifies the whole chain in batches, while it may grow. @param key see `chainKey` */
export async function verifyChain(
  db: Db,
  orgId: string,
  key: Uint8Array,
  { expect, batch = BATCH }: { readonly expect?: Anchor; readonly batch?: number } = {},
): Promise<Verification> {
  const context = { db, orgId, expect, batch };
  const cut = await findCheckpoint(db, orgId);
  const verified = await verifyFrom(context, key, cut);
  if (verified.fault && (await findCheckpoint(db, orgId))?.seq !== cut?.seq)
    // Cut meanwhile: what was missing is what is gone by right.
    return verifyChain(db, orgId, key, { ...(expect && { expect }), batch });
  return verified;
}

async function verifyFrom(
  context: WalkContext,
  key: Uint8Array,
  cut: SignedCheckpoint | undefined,
): Promise<Verification> {
  const { db, orgId, expect } = context;
  const start = cut ?? START;
  const first = await walk(context, start, undefined, true);
  // Read after the events: events and head are written together, so a genuine head is never behind.
  const head = await findHead(db, orgId);
  const isLonger = !first.fault && head !== undefined && head.seq > first.end.seq;
  const { end, fault } = isLonger ? await walk(context, first.end, head.seq) : first;
  const found =
    checkpointFault(key, cut, expect) ??
    fault ??
    endFault(key, head, end) ??
    (expect && expect.seq > end.seq ? anchorAt(expect) : undefined);
  return {
    events: end.seq - start.seq,
    headSeq: head?.seq ?? 0,
    headHash: head?.hash ?? NO_HASH,
    ...(cut ? { cut } : {}),
    unchained: await countUnchained(db, orgId, MAX_UNCHAINED),
    ...(found ? { fault: found } : {}),
  };
}

interface WalkContext {
  readonly db: Db;
  readonly orgId: string;
  readonly expect: Anchor | undefined;
  readonly batch: number;
}

const START: Anchor = { seq: 0, hash: NO_HASH };

function checkpointFault(
  key: Uint8Array,
  cut: SignedCheckpoint | undefined,
  expect: Anchor | undefined,
): ChainFault | undefined {
  if (!cut) return undefined;
  if (!isSignedCheckpoint(key, cut)) return { seq: cut.seq, kind: "checkpoint" };
  if (!expect || expect.seq > cut.seq) return undefined;
  if (expect.seq < cut.seq) return { seq: expect.seq, kind: "cut" };
  return expect.hash === cut.hash ? undefined : anchorAt(expect);
}

/** @returns the last correct position, and the fault at the next one */
async function walk(
  { db, orgId, expect, batch }: WalkContext,
  from: Anchor,
  until?: number,
  isFirst = false,
): Promise<{ end: Anchor; fault?: ChainFault }> {
  let end = from;
  for (;;) {
    // Starts before position 1, or what is cut: events inserted there would be shown like the others.
    const after = isFirst && end === from ? undefined : end.seq;
    const events = await findChained(db, orgId, { after, until, limit: batch });
    if (events.length === 0) return { end };
    const isIndexedRight = await contextIndexChecker(db, orgId, events);
    for (const event of events) {
      const hash = linkHash(end.hash, event);
      const { seq, id } = event;
      if (seq <= end.seq) return { end, fault: { seq, id, kind: "changed" } };
      if (seq !== end.seq + 1) return { end, fault: { seq: end.seq + 1, kind: "missing" } };
      if (event.hash !== hash || !hasConsistentChangeFlag(event) || !isIndexedRight(event))
        return { end, fault: { seq, id, kind: "changed" } };
      if (expect?.seq === seq && expect.hash !== hash) return { end, fault: { ...anchorAt(expect), id } };
      end = { seq, hash };
    }
  }
}

/** Derived from hashed members; decides who is shown as the last to change a record. */
const hasConsistentChangeFlag = ({ action, target, isChange }: StoredLink): boolean =>
  !isAuditAction(action) || isChange === (isChangeOf(action, target) ? 1 : 0);

const anchorAt = ({ seq }: Anchor): ChainFault => ({ seq, kind: "anchor" });

function endFault(key: Uint8Array, head: SignedHead | undefined, end: Anchor): ChainFault | undefined {
  if (!head) return end.seq === 0 ? undefined : { seq: end.seq, kind: "head" };
  if (!isSignedHead(key, head)) return { seq: head.seq, kind: "head" };
  if (head.seq > end.seq) return { seq: end.seq + 1, kind: "missing" };
  if (head.seq < end.seq) return { seq: head.seq + 1, kind: "extra" };
  return head.hash === end.hash ? undefined : { seq: head.seq, kind: "head" };
}
