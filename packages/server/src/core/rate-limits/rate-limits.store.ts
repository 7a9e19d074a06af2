/** Counts attempts in fixed windows. */
import type { Db } from "../../db/open.ts";

/** Counts a hit, in a new window if the last has passed. One statement: concurrent hits all count. */
export async function countHit(
  db: Db,
  hit: { orgId: string; bucket: string; now: number; windowMs: number },
): Promise<{ hits: number; windowStartedAt: number }> {
  const before = hit.now - hit.windowMs;
  const row = await db
    .insertInto("rate_limit")
    .values({
      org_id: hit.orgId,
      bucket: hit.bucket,
      window_started_at: hit.now,
      hits: 1,
      expires_at: hit.now + hit.windowMs,
    })
    .onConflict((conflict) =>
      conflict.columns(["org_id", "bucket"]).doUpdateSet((eb) => {
        const passed = eb("rate_limit.window_started_at", "<=", before);
        return {
          hits: eb
            .case()
            .when(passed)
            .then(1)
            .else(eb("rate_limit.hits", "+", 1))
            .end(),
          expires_at: eb
            .case()
            .when(passed)
            .then(hit.now + hit.windowMs)
            .else(eb.ref("rate_limit.expires_at"))
            .end(),
          window_started_at: eb
            .case()
            .when(passed)
            .then(hit.now)
            .else(eb.ref("rate_limit.window_started_at"))
            .end(),
        };
      }),
    )
    .returning(["hits", "window_started_at"])
    .executeTakeFirstOrThrow();
  return { hits: row.hits, windowStartedAt: row.window_started_at };
}

export async function giveBackHit(db: Db, key: { orgId: string; bucket: string }): Promise<void> {
  await db
    .updateTable("rate_limit")
    .set((eb) => ({ hits: eb("hits", "-", 1) }))
    .where((eb) => eb.and({ org_id: key.orgId, bucket: key.bucket }))
    .where("hits", ">", 0)
    .execute();
}
