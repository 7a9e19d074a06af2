/**
 * Chains audit events. Events are written unchained in the transactions of their actions, so that no action waits for
 * another; here they get their positions, in the order of their ids as far as committed. The head of the chain is
 * locked meanwhile: several nodes build one chain, and a killed node leaves a whole batch or nothing.
 */
import type { CoreDeps } from "../../core-deps.ts";
import { findUnchained, lockHead, moveHead, nextOrganisationToChain, storeLinks } from "./chain.store.ts";
import { type ChainHead, headMac, isSignedHead, linkHash, NO_HASH } from "./link.ts";

export interface ChainDeps extends CoreDeps {
  /** See `chainKey`. */
  readonly key: Uint8Array;
}

/** The head of a chain was not signed with this master key: nothing may be chained to it. */
export class BrokenChain extends Error {
  readonly orgId: string;
  constructor(orgId: string) {
    super(
      `the head of the audit chain of organisation ${orgId} has been tampered with: its events stay unchained (run signet audit verify --org ${orgId})`,
    );
    this.name = "BrokenChain";
    this.orgId = orgId;
  }
}

const BATCH = 200;

/**
 * Chains one batch of one organisation.
 * @returns the number of chained events, and the new head
 * @throws BrokenChain, and database errors when events exist beyond the head
 */
export function chainBatch(
  { database, clock, key }: ChainDeps,
  orgId: string,
  limit = BATCH,
): Promise<{ chained: number; head: ChainHead }> {
  return database.transaction(async (tx) => {
    const now = clock();
    const none = { orgId, seq: 0, hash: NO_HASH, updatedAt: now };
    const head = await lockHead(tx, { ...none, mac: headMac(key, none) });
    if (!isSignedHead(key, head)) throw new BrokenChain(orgId);
    // Read after locking the head, so that events which another node has just chained are excluded.
    const waiting = await findUnchained(tx, orgId, limit);
    let { seq, hash } = head;
    const links = waiting.map((event) => {
      seq += 1;
      hash = linkHash(hash, { ...event, seq });
      return { id: event.id, seq, hash };
    });
    const end = { orgId, seq, hash, updatedAt: now };
    if (links.length === 0) return { chained: 0, head: end };
    const written = await storeLinks(tx, orgId, links);
    if (written !== links.length)
      throw new Error(`${links.length - written} audit events were deleted while being chained`);
    await moveHead(tx, { ...end, mac: headMac(key, end) });
    return { chained: links.length, head: end };
  });
}

/** Chains all events of one organisation. @returns how many. @throws as `chainBatch` */
export async function chainOrganisation(deps: ChainDeps, orgId: string): Promise<number> {
  let chained = 0;
  for (let last = BATCH; last >= BATCH; chained += last) last = (await chainBatch(deps, orgId)).chained;
  return chained;
}

export interface RoundDeps extends ChainDeps {
  /** Called for each chain that has grown. */
  moved(head: ChainHead): void;
  /** Called when an organisation's events can't be chained; others continue. */
  failed(orgId: string, error: unknown): void;
  isStopped(): boolean;
}

/** Chains one batch per organisation, so that none waits for another's backlog. @returns the number of chained events */
export async function chainRound(deps: RoundDeps): Promise<number> {
  let chained = 0;
  let orgId: string | undefined = "";
  for (;;) {
    if (deps.isStopped()) return chained;
    orgId = await nextOrganisationToChain(deps.database.query, orgId);
    if (orgId === undefined) return chained;
    try {
      const batch = await chainBatch(deps, orgId);
      chained += batch.chained;
      if (batch.chained > 0) deps.moved(batch.head);
    } catch (error) {
      deps.failed(orgId, error);
    }
  }
}
