/** Stores that an organisation is to be deleted, and deletes it. */
import { affectsAny } from "../../../db/affected.ts";
import type { Db } from "../../../db/open.ts";

/** Disables it too, unless it is. @returns false when there is no such organisation, or it is already to be deleted */
export const setDeletion = (
  db: Db,
  { orgId, now, deleteAfter }: { orgId: string; now: number; deleteAfter: number },
): Promise<boolean> =>
  affectsAny(
    db
      .updateTable("organisation")
      .set((eb) => ({
        delete_after: deleteAfter,
        disabled_at: eb.fn.coalesce("disabled_at", eb.val(now)),
      }))
      .where("id", "=", orgId)
      .where("delete_after", "is", null),
  );

/** For one whose time of grace is cut short. @returns false when its deletion was not asked for */
export const bringDeletionForward = (db: Db, orgId: string, now: number): Promise<boolean> =>
  affectsAny(
    db
      .updateTable("organisation")
      .set({ delete_after: now })
      .where("id", "=", orgId)
      .where("delete_after", "is not", null),
  );

/**
 * @param askedAt of the deletion: whoever was disabled then stays disabled
 * @returns false when it is not to be deleted, or the deletion has begun
 */
export const unsetDeletion = (
  db: Db,
  { orgId, now, graceMs }: { orgId: string; now: number; graceMs: number },
): Promise<boolean> =>
  affectsAny(
    db
      .updateTable("organisation")
      .set((eb) => ({
        delete_after: null,
        // What the deletion itself disabled, in the same moment, is enabled again.
        disabled_at: eb
          .case()
          .when("disabled_at", "=", eb("delete_after", "-", graceMs))
          .then(null)
          .else(eb.ref("disabled_at"))
          .end(),
      }))
      .where("id", "=", orgId)
      .where("delete_after", ">", now)
      .where("audit_exported_at", "is", null),
  );

/** One whose time of grace has ended, the longest ago first. @param isExported whether its audit log has been kept */
export async function findDue(db: Db, now: number, isExported: boolean): Promise<string | undefined> {
  const row = await db
    .selectFrom("organisation")
    .select("id")
    .where("delete_after", "<=", now)
    .where("audit_exported_at", isExported ? "is not" : "is", null)
    .orderBy("delete_after")
    .orderBy("id")
    .limit(1)
    .executeTakeFirst();
  return row?.id;
}

export async function setAuditExported(db: Db, orgId: string, now: number): Promise<void> {
  await db
    .updateTable("organisation")
    .set({ audit_exported_at: now })
    .where("id", "=", orgId)
    .where("delete_after", "is not", null)
    .execute();
}

/** Accounts of the organisation that are guests elsewhere. */
export async function findVisits(
  db: Db,
  homeOrgId: string,
  limit: number,
): Promise<Array<{ orgId: string; userId: string }>> {
  const rows = await db
    .selectFrom("membership")
    .select(["org_id", "user_id"])
    .where("home_org_id", "=", homeOrgId)
    .where("org_id", "<>", homeOrgId)
    .limit(limit)
    .execute();
  return rows.map(({ org_id, user_id }) => ({ orgId: org_id, userId: user_id }));
}

export async function deleteOrganisationRow(db: Db, orgId: string): Promise<void> {
  await db.deleteFrom("organisation").where("id", "=", orgId).where("delete_after", "is not", null).execute();
}
