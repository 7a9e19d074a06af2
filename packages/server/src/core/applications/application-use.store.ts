/** The last uses of an application: OAuth and legacy sign-ins, and authentications with its own secret. */

import { type Selectable, sql } from "kysely";
import { allOf } from "../../db/conditions.ts";
import type { Db } from "../../db/open.ts";
import type { Schema } from "../../db/schema.ts";
import { findMemberNames } from "../users/members/member-names.store.ts";

export interface RecentSignIn {
  readonly userId: string;
  /** Null for former members. */
  readonly email: string | null;
  /** Milliseconds. */
  readonly at: number;
  readonly isEnded: boolean;
}

type Of = { readonly orgId: string; readonly applicationId: string };

/** OAuth sign-ins (browser or device code), and legacy federation. */
const begunIn = { oauth: "token_family", legacy: "session_key" } as const;

type Begun = Selectable<
  Pick<Schema["token_family"], "org_id" | "id" | "application_id" | "user_id" | "created_at" | "revoked_at">
>;

/** Newest first. */
export async function recentSignIns(
  db: Db,
  by: keyof typeof begunIn,
  of: Of,
  limit: number,
): Promise<RecentSignIn[]> {
  const rows = await db
    .selectFrom(sql.table<Begun>(begunIn[by]).as("begun"))
    .select(["begun.user_id", "begun.created_at", "begun.revoked_at"])
    .where((eb) => allOf(eb, { "begun.org_id": of.orgId, "begun.application_id": of.applicationId }))
    .orderBy("begun.id", "desc")
    .limit(limit)
    .execute();
  const names = await findMemberNames(
    db,
    of.orgId,
    rows.map(({ user_id }) => user_id),
  );
  return rows.map((row) => ({
    userId: row.user_id,
    email: names.get(row.user_id)?.email ?? null,
    at: row.created_at,
    isEnded: row.revoked_at !== null,
  }));
}

/** When any of its secrets was last used; null for never. */
export async function lastSecretUse(db: Db, of: Of): Promise<number | null> {
  const row = await db
    .selectFrom("client_secret")
    .select((eb) => eb.fn.max("last_used_at").as("at"))
    .where((eb) => allOf(eb, { org_id: of.orgId, application_id: of.applicationId }))
    .executeTakeFirst();
  return row?.at ?? null;
}

/** The last use of an application, which the quickstart waits for. */
export type ApplicationUse =
  | { readonly kind: "sign-in"; readonly userId: string; readonly email: string | null; readonly at: number }
  /** A client credentials token, with a client secret. */
  | { readonly kind: "own-token"; readonly at: number };

/** Undefined when the application was never used. */
export async function lastUse(
  db: Db,
  of: { orgId: string; applicationId: string },
  isService: boolean,
): Promise<ApplicationUse | undefined> {
  if (isService) {
    const at = await lastSecretUse(db, of);
    return at === null ? undefined : { kind: "own-token", at };
  }
  const [signIn] = await recentSignIns(db, "oauth", of, 1);
  const [key] = await recentSignIns(db, "legacy", of, 1);
  const newest = key && (!signIn || key.at > signIn.at) ? key : signIn;
  return newest && { kind: "sign-in", userId: newest.userId, email: newest.email, at: newest.at };
}
