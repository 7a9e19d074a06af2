/** The oldest signing key that signs, for metrics: one row for each organisation and algorithm is read. */
import type { Db } from "../../db/open.ts";

/** @returns since when the oldest key of any organisation has signed, milliseconds; undefined without a key */
export async function oldestSigningKey(db: Db): Promise<number | undefined> {
  const row = await db
    .selectFrom("signing_key")
    .innerJoin("organisation", "organisation.id", "signing_key.org_id")
    .select((eb) => eb.fn.min("signing_key.active_from").as("since"))
    .where("signing_key.retire_at", "is", null)
    .where("organisation.disabled_at", "is", null)
    .executeTakeFirst();
  return row?.since ?? undefined;
}
