/** Which addresses an organisation already has. */
import type { Db } from "../../../db/open.ts";

/** Databases limit the parameters of a statement. */
const BATCH = 500;

export async function findKnownEmails(
  db: Db,
  orgId: string,
  keys: readonly string[],
): Promise<ReadonlySet<string>> {
  const known = new Set<string>();
  for (let at = 0; at < keys.length; at += BATCH) {
    const rows = await db
      .selectFrom("user_account")
      .select("email_key")
      .where("org_id", "=", orgId)
      .where("email_key", "in", keys.slice(at, at + BATCH))
      .execute();
    for (const { email_key } of rows) known.add(email_key);
  }
  return known;
}
