/** Who signs in at an identity provider, and whose account that is: by connection and `sub`, never by address. */
import { affectsAny, hasRow } from "../../../db/affected.ts";
import { allOf } from "../../../db/conditions.ts";
import type { Db } from "../../../db/open.ts";
import { type RecordOf, toRecord, toRow } from "../../../db/records.ts";
import type { LinkedIdentityTable } from "../../../db/tables/connections.ts";

export type LinkedIdentity = RecordOf<LinkedIdentityTable>;
export type IdentityKey = Pick<LinkedIdentity, "orgId" | "connectionId" | "subject">;

export async function findIdentity(
  db: Db,
  { orgId, connectionId, subject }: IdentityKey,
): Promise<LinkedIdentity | undefined> {
  const row = await db
    .selectFrom("linked_identity")
    .selectAll()
    .where((eb) => allOf(eb, { org_id: orgId, connection_id: connectionId, subject }))
    .executeTakeFirst();
  return row && toRecord(row);
}

/** @returns false when the subject, or the user at this connection, is linked already */
export const insertIdentity = (tx: Db, identity: LinkedIdentity): Promise<boolean> =>
  hasRow(
    tx
      .insertInto("linked_identity")
      .values(toRow(identity))
      .onConflict((conflict) => conflict.doNothing())
      .returning("subject"),
  );

/** Whether an administrator of the organisation signs in by the connection. */
export const hasLinkedAdministrator = (
  db: Db,
  { orgId, connectionId }: Omit<IdentityKey, "subject">,
): Promise<boolean> =>
  hasRow(
    db
      .selectFrom("linked_identity")
      .innerJoin("membership", (join) =>
        join
          .onRef("membership.org_id", "=", "linked_identity.org_id")
          .onRef("membership.user_id", "=", "linked_identity.user_id"),
      )
      .select("linked_identity.subject")
      .where("linked_identity.org_id", "=", orgId)
      .where("linked_identity.connection_id", "=", connectionId)
      .where("membership.role", "=", "Administrator")
      .limit(1),
  );

/** Whether anybody signs in by the connection. */
export const hasIdentities = (
  db: Db,
  { orgId, connectionId }: Omit<IdentityKey, "subject">,
): Promise<boolean> =>
  hasRow(
    db
      .selectFrom("linked_identity")
      .select("subject")
      .where((eb) => allOf(eb, { org_id: orgId, connection_id: connectionId }))
      .limit(1),
  );

/** Whether the user signs in by the connection. */
export const isLinkedAt = (
  db: Db,
  { orgId, connectionId, userId }: Omit<LinkedIdentity, "subject" | "createdAt" | "lastSignInAt">,
): Promise<boolean> =>
  hasRow(
    db
      .selectFrom("linked_identity")
      .select("subject")
      .where((eb) => allOf(eb, { org_id: orgId, connection_id: connectionId, user_id: userId }))
      .limit(1),
  );

export const recordIdentityUse = (
  db: Db,
  { orgId, connectionId, subject }: IdentityKey,
  now: number,
): Promise<boolean> =>
  affectsAny(
    db
      .updateTable("linked_identity")
      .set({ last_sign_in_at: now })
      .where((eb) => allOf(eb, { org_id: orgId, connection_id: connectionId, subject })),
  );

export interface NamedIdentity
  extends Pick<LinkedIdentity, "connectionId" | "subject" | "userId" | "createdAt"> {
  /** Of the connection. */
  readonly name: string;
  readonly isEnabled: boolean;
}

/** Of some users, by the connections' names. */
export async function listIdentities(
  db: Db,
  { orgId, userIds }: { readonly orgId: string; readonly userIds: readonly string[] },
): Promise<NamedIdentity[]> {
  if (userIds.length === 0) return [];
  const rows = await db
    .selectFrom("linked_identity as identity")
    .innerJoin("connection", (join) =>
      join
        .onRef("connection.org_id", "=", "identity.org_id")
        .onRef("connection.id", "=", "identity.connection_id"),
    )
    .select(["identity.connection_id", "identity.subject", "identity.user_id", "identity.created_at"])
    .select(["connection.name", "connection.enabled"])
    .where("identity.org_id", "=", orgId)
    .where("identity.user_id", "in", userIds)
    .orderBy("connection.name_key")
    .orderBy("connection.id")
    .execute();
  return rows.map(({ enabled, ...row }) => ({ ...toRecord(row), isEnabled: enabled === 1 }));
}

export const deleteIdentity = (
  tx: Db,
  { orgId, userId, connectionId }: Pick<LinkedIdentity, "orgId" | "userId" | "connectionId">,
): Promise<boolean> =>
  affectsAny(
    tx
      .deleteFrom("linked_identity")
      .where((eb) => allOf(eb, { org_id: orgId, user_id: userId, connection_id: connectionId })),
  );
