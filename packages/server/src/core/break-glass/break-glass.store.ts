/** Stores which administrators may sign in past an enforced connection. */
import { affectsAny, hasRow } from "../../db/affected.ts";
import { allOf } from "../../db/conditions.ts";
import type { Db } from "../../db/open.ts";

export interface BreakGlassAccount {
  readonly orgId: string;
  readonly userId: string;
  readonly createdAt: number;
  readonly createdBy: string;
  /** Still an administrator who is not disabled. */
  readonly isAdministrator: boolean;
  /** An administrator still, and with a second factor. */
  readonly isUsable: boolean;
}

/** All of them, oldest first: their number is bounded. */
export async function listBreakGlassAccounts(db: Db, orgId: string): Promise<BreakGlassAccount[]> {
  const rows = await db
    .selectFrom("break_glass_account as glass")
    .innerJoin("user_account as account", (join) =>
      join.onRef("account.org_id", "=", "glass.org_id").onRef("account.id", "=", "glass.user_id"),
    )
    .leftJoin("membership", (join) =>
      join.onRef("membership.org_id", "=", "glass.org_id").onRef("membership.user_id", "=", "glass.user_id"),
    )
    .select([
      "glass.user_id",
      "glass.created_at",
      "glass.created_by",
      "account.disabled_at",
      "membership.role",
    ])
    .select((eb) => {
      const has = <Table extends "totp_credential" | "passkey" | "recovery_code">(table: Table) =>
        eb
          .selectFrom(table as "recovery_code")
          .select("user_id")
          .whereRef(`${table as "recovery_code"}.org_id`, "=", "glass.org_id")
          .whereRef(`${table as "recovery_code"}.user_id`, "=", "glass.user_id");
      const codes = has("recovery_code").where("used_at", "is", null);
      return eb
        .or([eb.exists(has("totp_credential")), eb.exists(has("passkey")), eb.exists(codes)])
        .as("has_factor");
    })
    .where("glass.org_id", "=", orgId)
    .orderBy("glass.created_at")
    .orderBy("glass.user_id")
    .execute();
  return rows.map(({ user_id, created_at, created_by, disabled_at, role, has_factor }) => {
    const isAdministrator = role === "Administrator" && disabled_at === null;
    return {
      ...{ orgId, userId: user_id, createdAt: created_at, createdBy: created_by },
      ...{ isAdministrator, isUsable: isAdministrator && Boolean(has_factor) },
    };
  });
}

/** @returns false when it is one already */
export const insertBreakGlassAccount = (
  tx: Db,
  { orgId, userId, createdAt, createdBy }: Omit<BreakGlassAccount, "isAdministrator" | "isUsable">,
): Promise<boolean> =>
  hasRow(
    tx
      .insertInto("break_glass_account")
      .values({ org_id: orgId, user_id: userId, created_at: createdAt, created_by: createdBy })
      .onConflict((conflict) => conflict.columns(["org_id", "user_id"]).doNothing())
      .returning("user_id"),
  );

export const deleteBreakGlassAccount = (tx: Db, orgId: string, userId: string): Promise<boolean> =>
  affectsAny(
    tx.deleteFrom("break_glass_account").where((eb) => allOf(eb, { org_id: orgId, user_id: userId })),
  );
