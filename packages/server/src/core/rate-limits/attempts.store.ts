/**
 * Places of attempts that are being checked. A place is kept in one of two generations of a minute each, so that those of a
 * node that died are free again after two minutes. Failures and places together never exceed the limit.
 */
import { type ExpressionBuilder, type Selectable, sql } from "kysely";
import { allOf } from "../../db/conditions.ts";
import type { Db } from "../../db/open.ts";
import type { Schema } from "../../db/schema.ts";
import type { RateLimitTable } from "../../db/tables/guards.ts";

const GENERATION_MS = 60_000;
const generationAt = (now: number): number => Math.floor(now / GENERATION_MS);

/** A place is kept at least this long; less, where the clocks of two nodes differ. */
export const PLACE_MS = GENERATION_MS;

export interface Counter {
  readonly orgId: string;
  readonly bucket: string;
  readonly max: number;
  readonly windowMs: number;
}

export interface CounterState {
  readonly failures: number;
  readonly pending: number;
  /** When the failures are forgotten. */
  readonly endsAt: number;
}

type Columns = ExpressionBuilder<Schema, "rate_limit">;

/** Failures of the present window. */
const failures = (eb: Columns, { windowMs }: Counter, now: number) =>
  eb
    .case()
    .when("rate_limit.window_started_at", ">", now - windowMs)
    .then(eb.ref("rate_limit.hits"))
    .else(0)
    .end();

/** Places of this generation and of the one before it. */
const pending = (eb: Columns, now: number) =>
  eb
    .case()
    .when("rate_limit.generation", ">=", generationAt(now))
    .then(eb("rate_limit.pending", "+", eb.ref("rate_limit.pending_before")))
    .when("rate_limit.generation", "=", generationAt(now) - 1)
    .then(eb.ref("rate_limit.pending"))
    .else(0)
    .end();

/** Neither a failure that is counted now nor a place that is taken now is lost by cleaning up. */
const expiryOf = ({ windowMs }: Counter, now: number): number => now + windowMs + 2 * GENERATION_MS;

const isCounter = (eb: Columns, { orgId, bucket }: Pick<Counter, "orgId" | "bucket">) =>
  allOf(eb, { "rate_limit.org_id": orgId, "rate_limit.bucket": bucket });

/** In the order of the counters; zeros for those that have no row. */
export async function readCounters(
  db: Db,
  counters: readonly Counter[],
  now: number,
): Promise<CounterState[]> {
  const rows: Array<Selectable<RateLimitTable>> = [];
  // Mostly one; of a guest, the account's are its home's.
  for (const [orgId, some] of Map.groupBy(counters, (counter) => counter.orgId)) {
    const buckets = some.map(({ bucket }) => bucket);
    const found = db.selectFrom("rate_limit").selectAll().where("org_id", "=", orgId);
    rows.push(...(await found.where("bucket", "in", buckets).execute()));
  }
  return counters.map(({ orgId, bucket, windowMs }) => {
    const row = rows.find((one) => one.org_id === orgId && one.bucket === bucket);
    if (!row) return { failures: 0, pending: 0, endsAt: now };
    const age = generationAt(now) - row.generation;
    const endsAt = row.window_started_at + windowMs;
    return {
      failures: endsAt > now ? row.hits : 0,
      pending: age <= 0 ? row.pending + row.pending_before : age === 1 ? row.pending : 0,
      endsAt,
    };
  });
}

/** Takes a place, unless failures and places have reached the limit. @returns its generation; undefined when full */
export async function takePlace(db: Db, counter: Counter, now: number): Promise<number | undefined> {
  const { orgId, bucket, max } = counter;
  const generation = generationAt(now);
  const expiresAt = expiryOf(counter, now);
  const isNewer = (eb: Columns) => eb("rate_limit.generation", "<", generation);
  const row = await db
    .insertInto("rate_limit")
    .values({
      ...{ org_id: orgId, bucket, window_started_at: now, hits: 0, expires_at: expiresAt },
      ...{ pending: 1, pending_before: 0, generation },
    })
    .onConflict((conflict) =>
      conflict
        .columns(["org_id", "bucket"])
        .doUpdateSet((eb) => ({
          expires_at: expiresAt,
          pending: eb
            .case()
            .when(isNewer(eb))
            .then(1)
            .else(eb("rate_limit.pending", "+", 1))
            .end(),
          pending_before: eb
            .case()
            .when("rate_limit.generation", "=", generation - 1)
            .then(eb.ref("rate_limit.pending"))
            .when(isNewer(eb))
            .then(0)
            .else(eb.ref("rate_limit.pending_before"))
            .end(),
          generation: eb
            .case()
            .when(isNewer(eb))
            .then(eb.val(generation))
            .else(eb.ref("rate_limit.generation"))
            .end(),
        }))
        .where((eb) => eb(eb(failures(eb, counter, now), "+", pending(eb, now)), "<", max)),
    )
    .returning("generation")
    .executeTakeFirst();
  return row?.generation;
}

export type AttemptEnd =
  /** Counts. */
  | "failed"
  /** Counts nothing. */
  | "released"
  /** Counts nothing, and forgets the failures before it. */
  | "cleared";

/** Gives the place back, in whichever generation it stands now, and counts a failure in the same statement. */
export async function endPlace(
  db: Db,
  counter: Counter,
  place: { readonly generation: number; readonly end: AttemptEnd; readonly now: number },
): Promise<void> {
  const { generation, end, now } = place;
  const oneLess = (eb: Columns, column: "pending" | "pending_before", when: number) =>
    eb
      .case()
      .when(eb.and([eb("generation", "=", when), eb(column, ">", 0)]))
      .then(eb(column, "-", 1))
      .else(eb.ref(column))
      .end();
  await db
    .updateTable("rate_limit")
    .set((eb) => ({
      pending: oneLess(eb, "pending", generation),
      pending_before: oneLess(eb, "pending_before", generation + 1),
      ...(end === "cleared" ? { hits: 0 } : {}),
      ...(end === "failed" ? failureAt(eb, counter, now) : {}),
    }))
    .where((eb) => isCounter(eb, counter))
    .execute();
}

/** The window begins with its first failure. */
function failureAt(eb: Columns, counter: Counter, now: number) {
  const before = failures(eb, counter, now);
  const isFirst = sql<boolean>`${before} = 0`;
  return {
    hits: eb(before, "+", 1),
    window_started_at: eb
      .case()
      .when(isFirst)
      .then(eb.val(now))
      .else(eb.ref("rate_limit.window_started_at"))
      .end(),
    expires_at: expiryOf(counter, now),
  };
}
