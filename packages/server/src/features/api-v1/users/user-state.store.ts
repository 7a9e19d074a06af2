/** What the record of a user shows beside the account and the membership, in one statement: this call comes by the thousand. */
import { allOf } from "../../../db/conditions.ts";
import type { Db } from "../../../db/open.ts";
import { type Parameter, prepared } from "../../../db/prepared.ts";

export interface UserState {
  /** When the unused invitation ends, in milliseconds; null without one. */
  readonly invitedUntil: number | null;
  readonly hasPassword: boolean;
  readonly hasTotp: boolean;
  readonly hasPasskey: boolean;
  /** As core/sessions/last-sign-in.store.ts says it. */
  readonly lastSignInAt: number | null;
}

type Key = { orgId: string; homeOrgId: string; userId: string };

const selectState = prepared((db, value: Parameter<Key & { actor: string }>) => {
  const member = { org_id: value("orgId"), user_id: value("userId") };
  const owner = { org_id: value("homeOrgId"), user_id: value("userId") };
  return db.selectNoFrom((none) => [
    db
      .selectFrom("user_action")
      .select((eb) => eb.fn.max("expires_at").as("at"))
      .where((eb) => allOf(eb, { ...member, type: "AcceptInvitation" }))
      .where("used_at", "is", null)
      .as("invited_until"),
    db
      .selectFrom("user_account")
      .select("password_changed_at")
      .where((eb) => allOf(eb, { org_id: value("homeOrgId"), id: value("userId") }))
      .as("password_changed_at"),
    db
      .selectFrom("totp_credential")
      .select((eb) => eb.fn.countAll<number>().as("count"))
      .where((eb) => allOf(eb, owner))
      .as("totp"),
    db
      .selectFrom("passkey")
      .select((eb) => eb.fn.countAll<number>().as("count"))
      .where((eb) => allOf(eb, owner))
      .as("passkeys"),
    none.fn
      .coalesce(
        db
          .selectFrom("browser_session")
          .select((eb) => eb.fn.max("auth_time").as("at"))
          .where((eb) => allOf(eb, member)),
        // The audit log outlasts sessions.
        db
          .selectFrom("audit_event")
          .select("at")
          .where("org_id", "=", value("orgId"))
          .where("actor", "=", value("actor"))
          .where("action", "in", ["session.started", "session.renewed"])
          .orderBy("at", "desc")
          .orderBy("id", "desc")
          .limit(1),
      )
      .as("last_sign_in_at"),
  ]);
});

/** @param homeOrgId where the account is; another organisation's for a guest */
export async function findUserState(db: Db, { orgId, homeOrgId, userId }: Key): Promise<UserState> {
  const [row] = await selectState(db, { orgId, homeOrgId, userId, actor: `user:${userId}` });
  return {
    invitedUntil: row?.invited_until ?? null,
    hasPassword: (row?.password_changed_at ?? null) !== null,
    hasTotp: (row?.totp ?? 0) > 0,
    hasPasskey: (row?.passkeys ?? 0) > 0,
    lastSignInAt: row?.last_sign_in_at ?? null,
  };
}
