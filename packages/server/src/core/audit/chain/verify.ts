/** Whether an organisation's chain is what the server made: every event, every place, and the end. */
import type { Db } from "../../../db/open.ts";
import { isAuditAction, isChangeOf } from "../actions.ts";
import { countWaiting, findChained, findHead, type PlacedEvent, type SignedHead } from "./chain.store.ts";
import { isSignedHead, linkHash, NO_HASH } from "./link.ts";

/** An end that was noted elsewhere. */
export interface Anchor {
  readonly seq: number;
  readonly hash: string;
}

export interface ChainFault {
  /** The first place that is wrong. */
  readonly seq: number;
  /** Of the event there, if there is one. */
  readonly id?: string;
  /**
   * `changed`: the event there is not what was chained. `missing`: there is no event. `extra`: events go on behind the
   * end. `head`: the end is not one that this master key has signed, or not the end of these events. `anchor`: the chain
   * is in order and another one than was noted elsewhere.
   */
  readonly kind: "changed" | "missing" | "extra" | "head" | "anchor";
}

export interface Verification {
  /** How many were looked at and are right. */
  readonly events: number;
  readonly headSeq: number;
  readonly headHash: string;
  /** How many wait to be chained, counted up to a thousand. */
  readonly unchained: number;
  readonly fault?: ChainFault;
}

const BATCH = 500;
const MOST_WAITING = 1_000;

/**
 * Reads the whole chain, in batches; it may grow meanwhile.
 * @param key see `chainKey`
 */
export async function verifyChain(
  db: Db,
  orgId: string,
  key: Uint8Array,
  { expect, batch = BATCH }: { readonly expect?: Anchor; readonly batch?: number } = {},
): Promise<Verification> {
  const looking = { db, orgId, expect, batch };
  const first = await walk(looking, START);
  // Read after the events: a node that chains writes both at once, so an honest end is never behind what is chained.
  const head = await findHead(db, orgId);
  const isLonger = !first.fault && head !== undefined && head.seq > first.end.seq;
  const { end, fault } = isLonger ? await walk(looking, first.end, head.seq) : first;
  const found =
    fault ?? endFault(key, head, end) ?? (expect && expect.seq > end.seq ? anchorAt(expect) : undefined);
  return {
    events: end.seq,
    headSeq: head?.seq ?? 0,
    headHash: head?.hash ?? NO_HASH,
    unchained: await countWaiting(db, orgId, MOST_WAITING),
    ...(found ? { fault: found } : {}),
  };
}

interface Looking {
  readonly db: Db;
  readonly orgId: string;
  readonly expect: Anchor | undefined;
  readonly batch: number;
}

const START: Anchor = { seq: 0, hash: NO_HASH };

/** @returns the last place that is right, and what is wrong with the next one */
async function walk(
  { db, orgId, expect, batch }: Looking,
  from: Anchor,
  until?: number,
): Promise<{ end: Anchor; fault?: ChainFault }> {
  let end = from;
  for (;;) {
    // From before the first place on: what was put there would be shown like the others.
    const after = end === START ? undefined : end.seq;
    const events = await findChained(db, orgId, { after, until, limit: batch });
    if (events.length === 0) return { end };
    for (const event of events) {
      const hash = linkHash(end.hash, event);
      const { seq, id } = event;
      if (seq <= end.seq) return { end, fault: { seq, id, kind: "changed" } };
      if (seq !== end.seq + 1) return { end, fault: { seq: end.seq + 1, kind: "missing" } };
      if (event.hash !== hash || !saysWhatItDid(event)) return { end, fault: { seq, id, kind: "changed" } };
      if (expect?.seq === seq && expect.hash !== hash) return { end, fault: { ...anchorAt(expect), id } };
      end = { seq, hash };
    }
  }
}

/** Follows from what the hash is over, and decides who is shown as the last to have changed a record. */
const saysWhatItDid = ({ action, target, isChange }: PlacedEvent): boolean =>
  !isAuditAction(action) || isChange === (isChangeOf(action, target) ? 1 : 0);

const anchorAt = ({ seq }: Anchor): ChainFault => ({ seq, kind: "anchor" });

function endFault(key: Uint8Array, head: SignedHead | undefined, end: Anchor): ChainFault | undefined {
  if (!head) return end.seq === 0 ? undefined : { seq: end.seq, kind: "head" };
  if (!isSignedHead(key, head)) return { seq: head.seq, kind: "head" };
  if (head.seq > end.seq) return { seq: end.seq + 1, kind: "missing" };
  if (head.seq < end.seq) return { seq: head.seq + 1, kind: "extra" };
  return head.hash === end.hash ? undefined : { seq: head.seq, kind: "head" };
}
