/** The list of sign-ups: the database filters, sorts and pages. */
import { sql } from "kysely";
import type { SignUp, SignUpState } from "../../../core/sign-ups/sign-ups.store.ts";
import { countRows } from "../../../db/keyset.ts";
import type { Db } from "../../../db/open.ts";
import { toRecord } from "../../../db/records.ts";
import type { ListPage, ListRequest } from "../lists/list-request.ts";
import { type SqlFields, sqlList, sqlPage } from "../lists/sql-list.store.ts";

const text = (column: string) => ({ kind: "text", of: sql.ref(`sign_up.${column}`) }) as const;

export const signUpFields: SqlFields = {
  id: text("id"),
  email: text("email"),
  firstname: text("firstname"),
  surname: text("surname"),
  locale: text("locale"),
  state: text("state"),
  reason: text("reason"),
  userId: text("user_id"),
  termsVersion: text("terms_version"),
  decidedAt: { kind: "time", of: sql.ref("sign_up.decided_at") },
  expiresAt: { kind: "time", of: sql.ref("sign_up.expires_at"), isNeverNull: true },
  createdAt: { kind: "time", of: sql.ref("sign_up.created_at"), isNeverNull: true },
  updatedAt: { kind: "time", of: sql.ref("sign_up.updated_at"), isNeverNull: true },
};

/** @param state of all when left out */
export async function listSignUpPage(
  db: Db,
  orgId: string,
  list: ListRequest,
  { state, now }: { readonly state: SignUpState | undefined; readonly now: number },
): Promise<ListPage<SignUp & { readonly sortValue: string | number }>> {
  const sqlOf = sqlList(db, list, signUpFields, sql.ref("sign_up.id"));
  const matching = () => {
    const all = db
      .selectFrom("sign_up")
      .where("sign_up.org_id", "=", orgId)
      .where("sign_up.expires_at", ">", now)
      .where(sqlOf.matching);
    return state === undefined ? all : all.where("sign_up.state", "=", state);
  };
  const rows = await matching()
    .selectAll("sign_up")
    .select(sqlOf.value.as("sortValue"))
    .where(sqlOf.within)
    .orderBy(sqlOf.value, sqlOf.direction)
    .orderBy(sqlOf.id, sqlOf.direction)
    .limit(sqlOf.limit)
    .execute();
  const shown = rows.map(({ sortValue, ...row }) => ({
    ...toRecord(row),
    state: row.state as SignUpState,
    sortValue,
  }));
  return sqlPage(list, shown, () => countRows(db, matching().select("sign_up.id")));
}
