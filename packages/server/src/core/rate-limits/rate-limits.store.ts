/** Counts requests in fixed windows. */
import { allOf } from "../../db/conditions.ts";
import type { Db } from "../../db/open.ts";
import { toRecord } from "../../db/records.ts";
import type { Counter } from "./attempts.store.ts";

/** Counts a hit, or several, in a new window if the last has passed. One statement: concurrent hits all count. */
export async function countHit(
  db: Db,
  hit: { orgId: string; bucket: string; now: number; windowMs: number; by?: number },
): Promise<{ hits: number; windowStartedAt: number }> {
  const { orgId, bucket, now, windowMs, by = 1 } = hit;
  const row = await db
    .insertInto("rate_limit")
    .values({ org_id: orgId, bucket, window_started_at: now, hits: by, expires_at: now + windowMs })
    .onConflict((conflict) =>
      conflict.columns(["org_id", "bucket"]).doUpdateSet((eb) => {
        const restarted = eb.case().when("rate_limit.window_started_at", "<=", now - windowMs);
        const newest = (column: "expires_at" | "window_started_at") =>
          restarted
            .then(eb.ref(`excluded.${column}`))
            .else(eb.ref(`rate_limit.${column}`))
            .end();
        return {
          hits: restarted
            .then(by)
            .else(eb("rate_limit.hits", "+", by))
            .end(),
          expires_at: newest("expires_at"),
          window_started_at: newest("window_started_at"),
        };
      }),
    )
    .returning(["hits", "window_started_at"])
    .executeTakeFirstOrThrow();
  return toRecord(row);
}

/**
 * Counts a request, unless its window is full: a refused one changes nothing.
 * @returns when the window began; undefined when it is full
 */
export async function takeHit(
  db: Db,
  { orgId, bucket, max, windowMs }: Counter,
  now: number,
): Promise<number | undefined> {
  const row = await db
    .insertInto("rate_limit")
    .values({ org_id: orgId, bucket, window_started_at: now, hits: 1, expires_at: now + windowMs })
    .onConflict((conflict) =>
      conflict
        .columns(["org_id", "bucket"])
        .doUpdateSet((eb) => {
          const isOver = eb("rate_limit.window_started_at", "<=", now - windowMs);
          const newest = (column: "expires_at" | "window_started_at") =>
            eb
              .case()
              .when(isOver)
              .then(eb.ref(`excluded.${column}`))
              .else(eb.ref(`rate_limit.${column}`))
              .end();
          const next = eb("rate_limit.hits", "+", 1);
          return {
            hits: eb.case().when(isOver).then(1).else(next).end(),
            expires_at: newest("expires_at"),
            window_started_at: newest("window_started_at"),
          };
        })
        .where((eb) =>
          eb.or([eb("rate_limit.window_started_at", "<=", now - windowMs), eb("rate_limit.hits", "<", max)]),
        ),
    )
    .returning("window_started_at")
    .executeTakeFirst();
  return row?.window_started_at;
}

/** Takes back a request that another limit refused, unless its window is over. */
export async function giveBackHit(
  db: Db,
  { orgId, bucket }: Pick<Counter, "orgId" | "bucket">,
  windowStartedAt: number,
): Promise<void> {
  await db
    .updateTable("rate_limit")
    .set((eb) => ({ hits: eb("hits", "-", 1) }))
    .where((eb) => allOf(eb, { org_id: orgId, bucket, window_started_at: windowStartedAt }))
    .where("hits", ">", 0)
    .execute();
}
