/** Leases of background work among nodes. */
import { affectsAny } from "../../db/affected.ts";
import type { Db } from "../../db/open.ts";

/** @param lease.now milliseconds, as `until` @returns whether the holder has the lease now; taking it again renews it */
export async function takeLease(
  db: Db,
  lease: { name: string; holder: string; now: number; until: number },
): Promise<boolean> {
  const row = await db
    .insertInto("background_lease")
    .values({ name: lease.name, holder: lease.holder, expires_at: lease.until })
    .onConflict((conflict) =>
      conflict
        .column("name")
        .doUpdateSet({ holder: lease.holder, expires_at: lease.until })
        .where((eb) =>
          eb.or([
            eb("background_lease.holder", "=", lease.holder),
            eb("background_lease.expires_at", "<=", lease.now),
            // Further ahead than any lease: a node with a wrong clock wrote it and may be gone.
            eb("background_lease.expires_at", ">", lease.until + (lease.until - lease.now)),
          ]),
        ),
    )
    .returning("holder")
    .executeTakeFirst();
  return row !== undefined;
}

/** @returns whether the holder had it */
export const releaseLease = (
  db: Db,
  lease: { readonly name: string; readonly holder: string; readonly now: number },
): Promise<boolean> =>
  affectsAny(
    db
      .updateTable("background_lease")
      .set({ expires_at: lease.now })
      .where("name", "=", lease.name)
      .where("holder", "=", lease.holder),
  );
