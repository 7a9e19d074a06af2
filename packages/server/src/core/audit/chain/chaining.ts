/**
 * Putting events into their organisation's chain. They are written without a place, in the transactions of the acts, so
 * that no act waits for another; here they get their places one by one, in the order of their ids as far as they are
 * committed. The row of the chain's end is held meanwhile: two nodes at once make one chain, and whoever is killed leaves
 * all of a batch or nothing.
 */
import type { Database } from "../../../db/open.ts";
import type { Clock } from "../../clock.ts";
import { findWaiting, holdHead, moveHead, nextOrganisationWithWaiting, writeLinks } from "./chain.store.ts";
import { type ChainHead, headMac, isSignedHead, linkHash, NO_HASH } from "./link.ts";

export interface ChainDeps {
  readonly database: Database;
  readonly clock: Clock;
  /** See `chainKey`. */
  readonly key: Uint8Array;
}

/** The end of a chain is not one that this master key has signed: nothing may be built on it. */
export class BrokenChain extends Error {
  readonly orgId: string;
  constructor(orgId: string) {
    super(
      `the end of the audit chain of organisation ${orgId} was changed: its events wait (signet audit verify --org ${orgId})`,
    );
    this.name = "BrokenChain";
    this.orgId = orgId;
  }
}

const BATCH = 200;

/**
 * One batch of one organisation.
 * @returns how many were chained, and where the chain ends now
 * @throws BrokenChain, and whatever the database says when the chain goes on behind its end
 */
export function chainBatch(
  { database, clock, key }: ChainDeps,
  orgId: string,
  limit = BATCH,
): Promise<{ chained: number; head: ChainHead }> {
  return database.transaction(async (tx) => {
    const now = clock();
    const none = { orgId, seq: 0, hash: NO_HASH, updatedAt: now };
    const head = await holdHead(tx, { ...none, mac: headMac(key, none) });
    if (!isSignedHead(key, head)) throw new BrokenChain(orgId);
    // Looked for after the head is held: what another node has just chained is seen as chained.
    const waiting = await findWaiting(tx, orgId, limit);
    let { seq, hash } = head;
    const links = waiting.map((event) => {
      seq += 1;
      hash = linkHash(hash, { ...event, seq });
      return { id: event.id, seq, hash };
    });
    const end = { orgId, seq, hash, updatedAt: now };
    if (links.length === 0) return { chained: 0, head: end };
    const written = await writeLinks(tx, orgId, links);
    if (written !== links.length)
      throw new Error(`${links.length - written} audit events are gone meanwhile`);
    await moveHead(tx, { ...end, mac: headMac(key, end) });
    return { chained: links.length, head: end };
  });
}

/** All that waits in one organisation. @returns how many were chained. @throws as `chainBatch` */
export async function chainOrganisation(deps: ChainDeps, orgId: string): Promise<number> {
  let chained = 0;
  for (let last = BATCH; last >= BATCH; chained += last) last = (await chainBatch(deps, orgId)).chained;
  return chained;
}

export interface RoundDeps extends ChainDeps {
  /** Told of each chain that has become longer. */
  moved(head: ChainHead): void;
  /** Of an organisation that it cannot go on with; the others go on. */
  failed(orgId: string, error: unknown): void;
  isStopped(): boolean;
}

/**
 * One batch of every organisation that has events waiting, so that none waits for another's backlog.
 * @returns how many were chained
 */
export async function chainRound(deps: RoundDeps): Promise<number> {
  let chained = 0;
  let orgId: string | undefined = "";
  for (;;) {
    if (deps.isStopped()) return chained;
    orgId = await nextOrganisationWithWaiting(deps.database.query, orgId);
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
