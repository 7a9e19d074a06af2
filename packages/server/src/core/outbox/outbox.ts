/**
 * The outbox: mails and back-channel logouts, written in the transaction of the act that they tell of and delivered in
 * the background, on every node. One conditional statement claims a row, so that the nodes share the work and a node that
 * dies leaves its rows to the others. The claim counts the attempt before it is made: one that ends the process waits as
 * long as one that fails. Failed attempts are repeated with growing delays, then given up and audited.
 */

import { AsyncLocalStorage } from "node:async_hooks";
import { type AuditEvent, recordAuditEvent } from "../audit/audit.store.ts";
import type { CoreDeps } from "../core-deps.ts";
import { type DueRow, findDueRows } from "./due-rows.store.ts";
import { type FairTurns, fairTurns, type OutboxLimits } from "./fair-turns.ts";
import {
  claimRow,
  type OutboxRow,
  type OutboxTable,
  type OutboxTableRow,
  recordOutcome,
} from "./outbox.store.ts";

export interface Delivery<Row extends OutboxRow, Name extends OutboxTable["name"]> {
  readonly table: OutboxTable<Name>;
  /** Longer than one attempt can take. */
  readonly claimMs: number;
  readonly limits: OutboxLimits;
  /** Delivered content stays readable: the mailbox of demo mode. */
  readonly keepsContent?: boolean;
  fromRow(row: OutboxTableRow<Name>): Row;
  /** @returns undefined when it was delivered */
  attempt(row: Row): Promise<DeliveryFailure | undefined>;
  /** How long the next attempt waits after this one; undefined: it was the last. */
  retryMs(attempt: number): number | undefined;
  /** No attempt is made from then on. */
  giveUpAt?(row: Row): number;
  /** The audit event of a row that is given up; undefined when the organisation must not learn of it. */
  failureEvent(row: Row): Pick<AuditEvent, "action" | "target" | "details"> | undefined;
  log?(row: Row, outcome: "delivered" | "will retry" | "given up", reason?: string): void;
}

export interface DeliveryFailure {
  readonly message: string;
  /** Another attempt would fail too. */
  readonly isFinal?: boolean;
}

/** One round: as many due rows as have room. @returns how many they were */
export async function deliverDue<Row extends OutboxRow, Name extends OutboxTable["name"]>(
  deps: CoreDeps,
  delivery: Delivery<Row, Name>,
): Promise<number> {
  const turns = fairTurns(delivery.limits);
  const due = await takeDue(deps, delivery, turns);
  await deliverRows(deps, delivery, due, turns);
  return due.length;
}

async function takeDue<Row extends OutboxRow, Name extends OutboxTable["name"]>(
  { database, clock }: CoreDeps,
  { table, limits }: Delivery<Row, Name>,
  turns: FairTurns,
): Promise<DueRow[]> {
  if (!turns.hasRoom()) return [];
  return turns.begin(await findDueRows(database.query, table, { now: clock(), limits, full: turns.full() }));
}

/** @throws the first error that is no failed delivery, after all of them have ended */
async function deliverRows<Row extends OutboxRow, Name extends OutboxTable["name"]>(
  deps: CoreDeps,
  delivery: Delivery<Row, Name>,
  due: readonly DueRow[],
  turns: FairTurns,
): Promise<void> {
  const results = await Promise.allSettled(
    due.map((row) => deliverRow(deps, delivery, row).finally(() => turns.end(row))),
  );
  const broken = results.find((result) => result.status === "rejected");
  if (broken) throw broken.reason;
}

async function deliverRow<Row extends OutboxRow, Name extends OutboxTable["name"]>(
  { database, clock }: CoreDeps,
  delivery: Delivery<Row, Name>,
  due: DueRow,
): Promise<void> {
  const { table, keepsContent = false } = delivery;
  const now = clock();
  const heldMs = Math.max(delivery.claimMs, delivery.retryMs(due.attempts + 1) ?? 0);
  const claimed = await claimRow(database.query, table, due, { now, until: now + heldMs });
  if (!claimed) return;
  const row = delivery.fromRow(claimed);
  const failure = await delivery.attempt(row);
  const at = clock();
  if (!failure) {
    await recordOutcome(database.query, table, row, { deliveredAt: at, keepsContent });
    return delivery.log?.(row, "delivered");
  }
  const error = failure.message;
  const nextAttemptAt = failure.isFinal ? undefined : retryAt(delivery, row, at);
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

function retryAt<Row extends OutboxRow, Name extends OutboxTable["name"]>(
  { retryMs, giveUpAt }: Delivery<Row, Name>,
  row: Row,
  now: number,
): number | undefined {
  const delay = retryMs(row.attempts);
  const isTooLate = delay !== undefined && giveUpAt !== undefined && now + delay >= giveUpAt(row);
  return delay === undefined || isTooLate ? undefined : now + delay;
}

export interface OutboxWorker {
  /** Looks for due rows now. */
  run(): void;
  /** Looks no further, and waits for what is under way. */
  stop(): Promise<void>;
}

/** Delivers every `everyMs`, beside what is still under way, and again at once while rows are due. */
export function startOutbox<Row extends OutboxRow, Name extends OutboxTable["name"]>(
  deps: CoreDeps & { onError(error: unknown): void },
  delivery: Delivery<Row, Name>,
  { everyMs }: { readonly everyMs: number },
): OutboxWorker {
  const turns = fairTurns(delivery.limits);
  const rounds = new Set<Promise<void>>();
  let isStopped = false;
  /** One at a time: a database that does not answer is not asked again and again. */
  let isLooking = false;
  let isWanted = false;
  const deliver = async () => {
    isLooking = true;
    const due = await takeDue(deps, delivery, turns).finally(() => {
      isLooking = false;
    });
    if (isWanted) run();
    await deliverRows(deps, delivery, due, turns);
    if (due.length > 0) run();
  };
  const run = () => {
    isWanted = isLooking;
    if (isStopped || isLooking) return;
    const round = deliver()
      .catch(deps.onError)
      .finally(() => rounds.delete(round));
    rounds.add(round);
  };
  const timer = setInterval(run, everyMs);
  timer.unref();
  return {
    // Asked for by what is still inside its own transaction (transaction-scope.ts), and part of none.
    run: AsyncLocalStorage.bind(run),
    stop: async () => {
      isStopped = true;
      clearInterval(timer);
      await Promise.all(rounds);
    },
  };
}
