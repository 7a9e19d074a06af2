/**
 * The outbox: mails and back-channel logouts, written in the transaction of the act that they tell of and delivered in
 * the background, on every node. One conditional statement claims a row, so that the nodes share the work and a node that
 * dies leaves its rows to the others. Failed attempts are repeated with growing delays, then given up and audited.
 */

import { type AuditEvent, recordAuditEvent } from "../audit/audit.store.ts";
import type { CoreDeps } from "../core-deps.ts";
import {
  claimRow,
  findDueRows,
  type OutboxRow,
  type OutboxTable,
  type OutboxTableRow,
  recordOutcome,
} from "./outbox.store.ts";

export interface Delivery<Row extends OutboxRow, Name extends OutboxTable["name"]> {
  readonly table: OutboxTable<Name>;
  /** Longer than one attempt can take. */
  readonly claimMs: number;
  /** How many rows one round takes: in all, and of one queue. */
  readonly batch: { readonly all: number; readonly each: number };
  /** Delivered content stays readable: the mailbox of demo mode. */
  readonly keepsContent?: boolean;
  fromRow(row: OutboxTableRow<Name>): Row;
  /** @returns undefined when it was delivered */
  attempt(row: Row): Promise<DeliveryFailure | undefined>;
  /** @returns undefined to give up */
  nextAttemptAt(row: Row, now: number): number | undefined;
  /** The audit event of a row that is given up; undefined when the organisation must not learn of it. */
  failureEvent(row: Row): Pick<AuditEvent, "action" | "target" | "details"> | undefined;
  log?(row: Row, outcome: "delivered" | "will retry" | "given up", reason?: string): void;
}

export interface DeliveryFailure {
  readonly message: string;
  /** Another attempt would fail too. */
  readonly isFinal?: boolean;
}

/** One round. @returns how many rows were due */
export async function deliverDue<Row extends OutboxRow, Name extends OutboxTable["name"]>(
  deps: CoreDeps,
  delivery: Delivery<Row, Name>,
): Promise<number> {
  const due = await findDueRows(deps.database.query, delivery.table, deps.clock(), delivery.batch);
  const results = await Promise.allSettled(due.map((row) => deliverRow(deps, delivery, row)));
  const broken = results.find((result) => result.status === "rejected");
  if (broken) throw broken.reason;
  return due.length;
}

async function deliverRow<Row extends OutboxRow, Name extends OutboxTable["name"]>(
  { database, clock }: CoreDeps,
  delivery: Delivery<Row, Name>,
  due: OutboxRow,
): Promise<void> {
  const { table, keepsContent = false } = delivery;
  const now = clock();
  const claimed = await claimRow(database.query, table, due, { now, until: now + delivery.claimMs });
  if (!claimed) return;
  const row = delivery.fromRow(claimed);
  const failure = await delivery.attempt(row);
  const at = clock();
  if (!failure) {
    await recordOutcome(database.query, table, row, { deliveredAt: at, keepsContent });
    return delivery.log?.(row, "delivered");
  }
  const error = failure.message;
  const nextAttemptAt = failure.isFinal ? undefined : delivery.nextAttemptAt(row, at);
  if (nextAttemptAt !== undefined) {
    await recordOutcome(database.query, table, row, { nextAttemptAt, error });
    return delivery.log?.(row, "will retry", error);
  }
  await database.transaction(async (tx) => {
    await recordOutcome(tx, table, row, { failedAt: at, error });
    const event = delivery.failureEvent(row);
    if (event === undefined) return;
    await recordAuditEvent(tx, {
      orgId: row.orgId,
      at,
      actor: "system",
      ...event,
      details: { ...event.details, attempts: row.attempts, reason: error },
    });
  });
  delivery.log?.(row, "given up", error);
}

export interface OutboxWorker {
  /** Starts a round now, unless as many are under way as may be. */
  run(): void;
  /** Starts no further round, and waits for those under way. */
  stop(): Promise<void>;
}

/** Delivers every `everyMs`, and again at once while rows are due; at most `maxRounds` at a time. */
export function startOutbox<Row extends OutboxRow, Name extends OutboxTable["name"]>(
  deps: CoreDeps & { onError(error: unknown): void },
  delivery: Delivery<Row, Name>,
  { everyMs, maxRounds }: { readonly everyMs: number; readonly maxRounds: number },
): OutboxWorker {
  const rounds = new Set<Promise<void>>();
  let isStopped = false;
  const run = () => {
    if (isStopped || rounds.size >= maxRounds) return;
    const round: Promise<void> = deliverDue(deps, delivery)
      .catch((error: unknown) => {
        deps.onError(error);
        return 0;
      })
      .then((found) => {
        rounds.delete(round);
        if (found > 0) run();
      });
    rounds.add(round);
  };
  const timer = setInterval(run, everyMs);
  timer.unref();
  return {
    run,
    stop: async () => {
      isStopped = true;
      clearInterval(timer);
      await Promise.all(rounds);
    },
  };
}
