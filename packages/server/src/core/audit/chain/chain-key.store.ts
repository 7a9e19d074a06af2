/** The sealed keys of the installation. */
import type { Db } from "../../../db/open.ts";

export async function findInstallationKey(db: Db, name: string): Promise<string | undefined> {
  const row = await db
    .selectFrom("installation_key")
    .select("sealed")
    .where("name", "=", name)
    .executeTakeFirst();
  return row?.sealed;
}

/** Nothing happens where there is one already. */
export async function addInstallationKey(db: Db, name: string, sealed: string): Promise<void> {
  await db
    .insertInto("installation_key")
    .values({ name, sealed })
    .onConflict((conflict) => conflict.column("name").doNothing())
    .execute();
}
