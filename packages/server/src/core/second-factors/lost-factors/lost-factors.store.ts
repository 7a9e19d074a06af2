/** Stores that users have lost their second factors. */
import { sql } from "kysely";
import { hasRow } from "../../../db/affected.ts";
import { allOf } from "../../../db/conditions.ts";
import type { Db } from "../../../db/open.ts";
import { acrValues } from "../../sessions/session.ts";
import type { FactorOwner } from "../second-factor.ts";

/** @returns false when the last request is younger than `since` */
export const insertFactorResetRequest = (
  db: Db,
  { homeOrgId, userId }: FactorOwner,
  { now, since }: { readonly now: number; readonly since: number },
): Promise<boolean> =>
  hasRow(
    db
      .insertInto("factor_reset_request")
      .values({ org_id: homeOrgId, user_id: userId, requested_at: now })
      .onConflict((conflict) =>
        conflict
          .columns(["org_id", "user_id"])
          .doUpdateSet({ requested_at: now })
          .where("factor_reset_request.requested_at", "<=", since),
      )
      .returning("user_id"),
  );

export async function deleteFactorResetRequest(db: Db, { homeOrgId, userId }: FactorOwner): Promise<void> {
  await db
    .deleteFrom("factor_reset_request")
    .where((eb) => allOf(eb, { org_id: homeOrgId, user_id: userId }))
    .execute();
}

export interface FactorResetRequest {
  readonly userId: string;
  readonly email: string;
  readonly requestedAt: number;
}

/**
 * Of enabled users, newest first. A user who has signed in with a second factor since has found it again.
 * @param scope.userId of one user
 */
export async function listFactorResetRequests(
  db: Db,
  orgId: string,
  { since, limit, userId }: { readonly since: number; readonly limit: number; readonly userId?: string },
): Promise<FactorResetRequest[]> {
  let query = db
    .selectFrom("factor_reset_request as request")
    .innerJoin("user_account as account", (join) =>
      join.onRef("account.org_id", "=", "request.org_id").onRef("account.id", "=", "request.user_id"),
    )
    .select(["account.id as userId", "account.email", "request.requested_at as requestedAt"])
    .where("request.org_id", "=", orgId)
    .where("request.requested_at", ">", since)
    .where("account.disabled_at", "is", null)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom("browser_session as session")
            .select(sql`1`.as("one"))
            .whereRef("session.org_id", "=", "request.org_id")
            .whereRef("session.user_id", "=", "request.user_id")
            .whereRef("session.created_at", ">", "request.requested_at")
            .where("session.acr", "<>", acrValues.password),
        ),
      ),
    );
  if (userId !== undefined) query = query.where("request.user_id", "=", userId);
  return query.orderBy("request.requested_at", "desc").limit(limit).execute();
}
