/**
 * What the records of users show beside accounts and memberships: of one user in one prepared statement, because that call comes
 * by the thousand, and of a page of users in one.
 */
import { sql } from "kysely";
import {
  listIdentities,
  type NamedIdentity,
} from "../../../core/connections/sign-in/linked-identities.store.ts";
import { type AcceptedTerms, listAcceptedTerms } from "../../../core/terms/accepted-terms.store.ts";
import { memberships } from "../../../core/users/members/members.store.ts";
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
  /** Of the connection that provisions the account at its home; null: the organisation itself manages it. */
  readonly connectionId: string | null;
  readonly externalId: string | null;
  /** Who the user is at connections for signing in. */
  readonly identities: readonly NamedIdentity[];
  /** The oldest first. */
  readonly acceptedTerms: readonly AcceptedTerms[];
}

type Key = { orgId: string; userId: string };

const selectState = prepared((db, value: Parameter<Key & { actor: string }>) => {
  const member = { org_id: value("orgId"), user_id: value("userId") };
  const provisioned = (column: "connection_id" | "external_id") =>
    db
      .selectFrom("scim_user")
      .select(column)
      .where((eb) => allOf(eb, member));
  const countOf = (table: "totp_credential" | "passkey" | "linked_identity" | "accepted_terms") =>
    db
      .selectFrom(table as "passkey")
      .select((eb) => eb.fn.countAll<number>().as("count"))
      .where((eb) => allOf(eb, member));
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
      .where((eb) => allOf(eb, { org_id: value("orgId"), id: value("userId") }))
      .as("password_changed_at"),
    countOf("totp_credential").as("totp"),
    countOf("passkey").as("passkeys"),
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
    countOf("linked_identity").as("identities"),
    countOf("accepted_terms").as("accepted_terms"),
    provisioned("connection_id").as("connection_id"),
    provisioned("external_id").as("external_id"),
  ]);
});

/** Of a guest, without what is the home's alone to know: factors, password and connection are as if there were none. */
export async function findUserState(db: Db, { orgId, userId }: Key): Promise<UserState> {
  const [row] = await selectState(db, { orgId, userId, actor: `user:${userId}` });
  const isLinked = (row?.identities ?? 0) > 0;
  const of = { orgId, userIds: [userId] };
  return toState(row, {
    identities: isLinked ? await listIdentities(db, of) : [],
    acceptedTerms: (row?.accepted_terms ?? 0) > 0 ? await listAcceptedTerms(db, of) : [],
  });
}

interface StateRow {
  readonly invited_until: number | null;
  readonly password_changed_at: number | null;
  readonly totp: number | null;
  readonly passkeys: number | null;
  readonly last_sign_in_at: number | null;
  readonly connection_id: string | null;
  readonly external_id: string | null;
}

const toState = (
  row: StateRow | undefined,
  lists: Pick<UserState, "identities" | "acceptedTerms">,
): UserState => ({
  ...lists,
  invitedUntil: row?.invited_until ?? null,
  hasPassword: (row?.password_changed_at ?? null) !== null,
  hasTotp: (row?.totp ?? 0) > 0,
  hasPasskey: (row?.passkeys ?? 0) > 0,
  lastSignInAt: row?.last_sign_in_at ?? null,
  connectionId: row?.connection_id ?? null,
  externalId: row?.external_id ?? null,
});

// For statements over `membership` and `user_account` (members.store.ts).
const ofMember = sql`org_id = membership.org_id and user_id = membership.user_id`;

/** When the unused invitation of a member ends. */
export const invitedUntil = sql<number | null>`(
  select max(expires_at) from user_action where ${ofMember} and type = 'AcceptInvitation' and used_at is null)`;

export const lastSignIn = sql<number | null>`coalesce(
  (select max(auth_time) from browser_session where ${ofMember}),
  (select max(at) from audit_event where org_id = membership.org_id and actor = 'user:' || membership.user_id
    and action in ('session.started', 'session.renewed')))`;

const provisioned = (column: "connection_id" | "external_id") =>
  sql<string | null>`(select ${sql.ref(column)} from scim_user where ${ofMember})`;
export const connectionId = provisioned("connection_id");
export const externalId = provisioned("external_id");

/** By PermId. */
export async function findUserStates(
  db: Db,
  orgId: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, UserState>> {
  if (ids.length === 0) return new Map();
  const rows = await memberships(db, orgId)
    .select(["membership.user_id as id", "password_changed_at"])
    .select(invitedUntil.as("invited_until"))
    .select(sql<number>`(select count(*) from totp_credential where ${ofMember})`.as("totp"))
    .select(sql<number>`(select count(*) from passkey where ${ofMember})`.as("passkeys"))
    .select(lastSignIn.as("last_sign_in_at"))
    .select([connectionId.as("connection_id"), externalId.as("external_id")])
    .where("membership.user_id", "in", ids)
    .execute();
  const identities = Map.groupBy(await listIdentities(db, { orgId, userIds: ids }), ({ userId }) => userId);
  const terms = Map.groupBy(await listAcceptedTerms(db, { orgId, userIds: ids }), ({ userId }) => userId);
  return new Map(
    rows.map((row) => [
      row.id,
      toState(row, { identities: identities.get(row.id) ?? [], acceptedTerms: terms.get(row.id) ?? [] }),
    ]),
  );
}
