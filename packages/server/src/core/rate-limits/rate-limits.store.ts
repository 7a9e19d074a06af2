/** Counts attempts in fixed windows. */
import { allOf } from "../../db/conditions.ts";
import type { Db } from "../../db/open.ts";
import { toRecord } from "../../db/records.ts";

/** Counts a hit, in a new window if the last has passed. One statement: concurrent hits all count. */
export async function countHit(
  db: Db,
  { orgId, bucket, now, windowMs }: { orgId: string; bucket: string; now: number; windowMs: number },
): Promise<{ hits: number; windowStartedAt: number }> {
  const before = now - windowMs;
  const expiresAt = now + windowMs;
  const row = await db
    .insertInto("rate_limit")
    .values({ org_id: orgId, bucket, window_started_at: now, hits: 1, expires_at: expiresAt })
    .onConflict((conflict) =>
      conflict.columns(["org_id", "bucket"]).doUpdateSet((eb) => {
        const passed = eb("rate_limit.window_started_at", "<=", before);
        const restarted = eb.case().when(passed);
        return {
          hits: restarted
            .then(1)
            .else(eb("rate_limit.hits", "+", 1))
            .end(),
          expires_at: restarted.then(expiresAt).else(eb.ref("rate_limit.expires_at")).end(),
          window_started_at: restarted.then(now).else(eb.ref("rate_limit.window_started_at")).end(),
        };
      }),
    )
    .returning(["hits", "window_started_at"])
    .executeTakeFirstOrThrow();
  return toRecord(row);
}

export async function giveBackHit(db: Db, key: { orgId: string; bucket: string }): Promise<void> {
  await db
    .updateTable("rate_limit")
    .set((eb) => ({ hits: eb("hits", "-", 1) }))
    .where((eb) => allOf(eb, { org_id: key.orgId, bucket: key.bucket }))
    .where("hits", ">", 0)
    .execute();
}
