/** Housekeeping deletes expired codes and challenges. Devices and keys stay, so that no key is enrolled twice. */
import type { Db } from "../../../db/open.ts";

const DAY_MS = 86_400_000;

/** Each deletes at most `limit` rows and returns how many. */
export const enrolmentRemovals: ReadonlyArray<(db: Db, now: number, limit: number) => Promise<number>> = [
  // The code of a device is needed for support in the first weeks; the audit log keeps it longer.
  (db, now, limit) => deleteExpired(db, "device_enrollment_code", now - 30 * DAY_MS, limit),
  // A late answer gets `challenge_expired` instead of `challenge_not_found`.
  (db, now, limit) => deleteExpired(db, "device_challenge", now - DAY_MS, limit),
];

async function deleteExpired(
  db: Db,
  table: "device_enrollment_code" | "device_challenge",
  before: number,
  limit: number,
): Promise<number> {
  const expired = await db
    .selectFrom(table)
    .select(["org_id", "id"])
    .where("expires_at", "<", before)
    .orderBy("expires_at")
    .limit(limit)
    .execute();
  for (const { org_id, id } of expired)
    await db.deleteFrom(table).where("org_id", "=", org_id).where("id", "=", id).execute();
  return expired.length;
}
