/**
 * Cuts the oldest events off an organisation's audit chain. A signed checkpoint takes their place in the same transaction, so that
 * what is left stays provable from there on; what has been tampered with is never cut, as that would be the end of the evidence.
 */
import type { Db } from "../../../db/open.ts";
import { recordAuditEvent } from "../audit.store.ts";
import { findChained, lockHead } from "../chain/chain.store.ts";
import { BrokenChain, type ChainDeps } from "../chain/chaining.ts";
import { deleteChained, findCheckpoint, putCheckpoint } from "../chain/checkpoint.store.ts";
import {
  checkpointMac,
  headMac,
  isSignedCheckpoint,
  isSignedHead,
  linkHash,
  NO_HASH,
} from "../chain/link.ts";
import { findStreamedSeq } from "../stream/stream.store.ts";

const BATCH = 200;

export interface Cut {
  readonly orgId: string;
  /** Older events go; milliseconds. */
  readonly before: number;
  /** The policy, for the event that tells of the cut. */
  readonly months: number;
  /** Whether that event is still to be written: once for all batches of a cut. */
  readonly isFirst: boolean;
  /** Whether there is an audit stream: what it has not sent yet stays. */
  readonly isStreamed?: boolean;
}

/** Unchained events stay, whatever their age. @returns how many were cut, of a batch. @throws BrokenChain */
export function cutBatch({ database, clock, key }: ChainDeps, cut: Cut, limit = BATCH): Promise<number> {
  const { orgId, before } = cut;
  return database.transaction(async (tx) => {
    const now = clock();
    const none = { orgId, seq: 0, hash: NO_HASH, updatedAt: now };
    const head = await lockHead(tx, { ...none, mac: headMac(key, none) });
    const last = await findCheckpoint(tx, orgId);
    if (!isSignedHead(key, head) || (last && !isSignedCheckpoint(key, last))) throw new BrokenChain(orgId);
    let { seq, hash, until } = last ?? { seq: 0, hash: NO_HASH, until: 0 };
    const lastToGo = cut.isStreamed ? await findStreamedSeq(tx, orgId) : head.seq;
    const ids: string[] = [];
    for (const event of await findChained(tx, orgId, { after: seq, limit })) {
      // In the order of the chain: what follows a younger event waits for it.
      if (event.at >= before || (cut.isStreamed && event.seq > lastToGo)) break;
      hash = linkHash(hash, event);
      if (event.seq !== seq + 1 || event.seq > head.seq || event.hash !== hash) throw new BrokenChain(orgId);
      seq = event.seq;
      until = Math.max(until, event.at);
      ids.push(event.id);
    }
    if (ids.length === 0) return 0;
    if ((await deleteChained(tx, orgId, ids)) !== ids.length)
      throw new Error("audit events were deleted while being cut");
    const checkpoint = { orgId, seq, hash, events: seq, cutAt: now, until };
    await putCheckpoint(tx, { ...checkpoint, mac: checkpointMac(key, checkpoint) });
    if (cut.isFirst) await tell(tx, cut, now);
    return ids.length;
  });
}

const tell = (tx: Db, { orgId, before, months }: Cut, at: number): Promise<void> =>
  recordAuditEvent(tx, {
    ...{ orgId, at, actor: "system", action: "audit-log.cut", target: orgId },
    details: { months, before: new Date(before).toISOString() },
  });
