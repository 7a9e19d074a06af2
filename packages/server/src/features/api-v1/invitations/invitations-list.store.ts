/** The list of invitations: the database filters, sorts and pages. */
import { sql } from "kysely";
import { countRows } from "../../../db/keyset.ts";
import type { Db } from "../../../db/open.ts";
import type { ListPage, ListRequest } from "../lists/list-request.ts";
import { type SqlFields, sqlList, sqlPage } from "../lists/sql-list.store.ts";
import type { Invitation } from "./invitation-record.ts";

/** @param now milliseconds */
const fields = (now: number): SqlFields => ({
  id: { kind: "text", of: sql.ref("invitation.id") },
  userId: { kind: "text", of: sql.ref("invitation.user_id") },
  email: { kind: "text", of: sql.ref("user_account.email") },
  firstname: { kind: "text", of: sql.ref("user_account.firstname") },
  surname: { kind: "text", of: sql.ref("user_account.surname") },
  role: { kind: "text", of: sql.ref("membership.role") },
  connectionId: { kind: "text", of: sql.ref("invitation.connection_id") },
  state: {
    kind: "text",
    of: sql`case when invitation.accepted_at is not null then 'accepted'
      when invitation.withdrawn_at is not null then 'withdrawn'
      when invitation.expires_at > cast(${now} as bigint) then 'pending' else 'expired' end`,
  },
  expiresAt: { kind: "time", of: sql.ref("invitation.expires_at"), isNeverNull: true },
  createdAt: { kind: "time", of: sql.ref("invitation.created_at"), isNeverNull: true },
  updatedAt: { kind: "time", of: sql.ref("invitation.updated_at"), isNeverNull: true },
});

/** Names and kinds, for the parameters of the list. */
export const invitationFields = fields(0);

const joined = (db: Db, orgId: string) =>
  db
    .selectFrom("invitation")
    .innerJoin("user_account", (join) =>
      join
        .onRef("user_account.org_id", "=", "invitation.org_id")
        .onRef("user_account.id", "=", "invitation.user_id"),
    )
    .innerJoin("membership", (join) =>
      join
        .onRef("membership.org_id", "=", "invitation.org_id")
        .onRef("membership.user_id", "=", "invitation.user_id"),
    )
    .where("invitation.org_id", "=", orgId);

const columns = [
  ...(["invitation.id", "invitation.user_id as userId", "invitation.expires_at as expiresAt"] as const),
  "invitation.connection_id as connectionId",
  ...(["invitation.accepted_at as acceptedAt", "invitation.withdrawn_at as withdrawnAt"] as const),
  ...(["invitation.created_at as createdAt", "invitation.updated_at as updatedAt"] as const),
  ...(["user_account.email", "user_account.firstname", "user_account.surname", "membership.role"] as const),
] as const;

/** @param id of the invitation */
export async function findShownInvitation(
  db: Db,
  { orgId, id }: { readonly orgId: string; readonly id: string },
): Promise<Invitation | undefined> {
  const row = await joined(db, orgId).select(columns).where("invitation.id", "=", id).executeTakeFirst();
  return row && { ...row, orgId };
}

export async function listInvitationPage(
  db: Db,
  orgId: string,
  list: ListRequest,
  now: number,
): Promise<ListPage<Invitation & { readonly sortValue: string | number }>> {
  const sqlOf = sqlList(db, list, fields(now), sql.ref("invitation.id"));
  const matching = () => joined(db, orgId).where(sqlOf.matching);
  const rows = await matching()
    .select(columns)
    .select(sqlOf.value.as("sortValue"))
    .where(sqlOf.within)
    .orderBy(sqlOf.value, sqlOf.direction)
    .orderBy(sqlOf.id, sqlOf.direction)
    .limit(sqlOf.limit)
    .execute();
  const shown = rows.map((row) => ({ ...row, orgId }));
  return sqlPage(list, shown, () => countRows(db, matching().select("invitation.id")));
}
