/** The device CA that ends first, for metrics. */
import type { Db } from "../../db/open.ts";

/** @returns milliseconds; undefined without a CA that issues */
export async function firstCaExpiry(db: Db): Promise<number | undefined> {
  const row = await db
    .selectFrom("device_ca")
    .innerJoin("organisation", "organisation.id", "device_ca.org_id")
    .select((eb) => eb.fn.min("device_ca.not_after").as("at"))
    .where("device_ca.retired_at", "is", null)
    .where("organisation.disabled_at", "is", null)
    .executeTakeFirst();
  return row?.at ?? undefined;
}
