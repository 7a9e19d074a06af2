/** Stores that an organisation is to be deleted, and deletes it. */
import { affectsAny } from "../../../db/affected.ts";
import type { Db } from "../../../db/open.ts";

/**
 * Disables it too, unless it is: a millisecond later then, if it was disabled in this one, as `unsetDeletion` tells by the time
 * who has disabled it.
 * @returns when it is deleted; undefined when there is no such organisation, or it is already to be deleted
 */
export async function setDeletion(
  db: Db,
  { orgId, now, graceMs }: { orgId: string; now: number; graceMs: number },
): Promise<number | undefined> {
  const row = await db
    .updateTable("organisation")
    .set((eb) => ({
      delete_after: eb
        .case()
        .when("disabled_at", "=", now)
        .then(eb("disabled_at", "+", graceMs + 1))
        .else(eb.val(now + graceMs))
        .end(),
      disabled_at: eb.fn.coalesce("disabled_at", eb.val(now)),
    }))
    .where("id", "=", orgId)
    .where("delete_after", "is", null)
    .returning("delete_after")
    .executeTakeFirst();
  return row?.delete_after ?? undefined;
}

/**
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

/**
 * From here on nothing brings it back. Of several that begin it at once, one gets true.
 * @param isEarly the time of grace is cut short
 * @returns false when it is not to be deleted, or the deletion has begun
 */
export function setDeletionBegun(
  db: Db,
  { orgId, now, isEarly }: { orgId: string; now: number; isEarly: boolean },
): Promise<boolean> {
  const begin = db
    .updateTable("organisation")
    .set({ audit_exported_at: now, ...(isEarly ? { delete_after: now } : {}) })
    .where("id", "=", orgId)
    .where("audit_exported_at", "is", null);
  return affectsAny(
    isEarly ? begin.where("delete_after", "is not", null) : begin.where("delete_after", "<=", now),
  );
}

/**
 * Two that delete the same organisation take turns: they would lock the same rows in two orders.
 * @returns false when its deletion has not begun, or nothing is left of it
 */
export const lockBegunDeletion = (tx: Db, orgId: string): Promise<boolean> =>
  affectsAny(
    tx
      .updateTable("organisation")
      .set((eb) => ({ audit_exported_at: eb.ref("audit_exported_at") }))
      .where("id", "=", orgId)
      .where("delete_after", "is not", null)
      .where("audit_exported_at", "is not", null),
  );

export interface DueDeletion {
  readonly orgId: string;
  readonly deleteAfter: number;
  /** Its audit log has been kept. */
  readonly isBegun: boolean;
}

/** Those whose time of grace has ended: first those that were begun, then the longest ago. */
export async function listDue(db: Db, now: number, limit: number): Promise<DueDeletion[]> {
  const rows = await db
    .selectFrom("organisation")
    .select(["id", "audit_exported_at", "delete_after"])
    .where("delete_after", "<=", now)
    .orderBy((eb) => eb.case().when("audit_exported_at", "is", null).then(1).else(0).end())
    .orderBy("delete_after")
    .orderBy("id")
    .limit(limit)
    .execute();
  return rows.map(({ id, audit_exported_at, delete_after }) => ({
    orgId: id,
    deleteAfter: delete_after ?? now,
    isBegun: audit_exported_at !== null,
  }));
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
  await db
    .deleteFrom("organisation")
    .where("id", "=", orgId)
    .where("delete_after", "is not", null)
    .where("audit_exported_at", "is not", null)
    .execute();
}
