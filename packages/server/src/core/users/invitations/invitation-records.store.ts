/** Stores what became of each invitation. A user has one open at most: its expiry moves with a new link. */
import { newUuid } from "@signet/protocol/uuid";
import { allOf } from "../../../db/conditions.ts";
import type { Db } from "../../../db/open.ts";
import { type RecordOf, toRecord } from "../../../db/records.ts";
import type { InvitationTable } from "../../../db/tables/users.ts";

export type InvitationRow = RecordOf<InvitationTable>;

export const invitationStates = ["pending", "accepted", "withdrawn", "expired"] as const;

/** @param now milliseconds */
export function invitationState(
  { acceptedAt, withdrawnAt, expiresAt }: InvitationRow,
  now: number,
): (typeof invitationStates)[number] {
  if (acceptedAt !== null) return "accepted";
  if (withdrawnAt !== null) return "withdrawn";
  return expiresAt > now ? "pending" : "expired";
}

interface Member {
  readonly orgId: string;
  readonly userId: string;
}

interface InvitationLink {
  readonly expiresAt: number;
  /** The provider where it is accepted. */
  readonly connectionId: string | undefined;
}

/** Of a new link: another invitation, or the open one, which works longer. */
export async function putInvitation(
  tx: Db,
  { orgId, userId, connectionId, expiresAt, now }: Member & InvitationLink & { readonly now: number },
): Promise<void> {
  const connection = { connection_id: connectionId ?? null };
  const row = { org_id: orgId, id: newUuid(), user_id: userId, expires_at: expiresAt, ...connection };
  await tx
    .insertInto("invitation")
    .values({ ...row, created_at: now, updated_at: now })
    .onConflict((conflict) =>
      conflict
        .columns(["org_id", "user_id"])
        .where("accepted_at", "is", null)
        .where("withdrawn_at", "is", null)
        .doUpdateSet({ expires_at: expiresAt, updated_at: now, ...connection }),
    )
    .execute();
}

/** The open one of a user; nothing when there is none. */
export async function endInvitation(
  tx: Db,
  { orgId, userId, as, now }: Member & { readonly as: "accepted_at" | "withdrawn_at"; readonly now: number },
): Promise<void> {
  await tx
    .updateTable("invitation")
    .set({ [as]: now, updated_at: now })
    .where((eb) => allOf(eb, { org_id: orgId, user_id: userId }))
    .where("accepted_at", "is", null)
    .where("withdrawn_at", "is", null)
    .execute();
}

export async function findInvitation(
  db: Db,
  { orgId, id }: { readonly orgId: string; readonly id: string },
): Promise<InvitationRow | undefined> {
  const row = await db
    .selectFrom("invitation")
    .selectAll()
    .where((eb) => allOf(eb, { org_id: orgId, id }))
    .executeTakeFirst();
  return row && toRecord(row);
}

/** The newest one of a user. */
export async function findInvitationOfUser(
  db: Db,
  { orgId, userId }: Member,
): Promise<InvitationRow | undefined> {
  const row = await db
    .selectFrom("invitation")
    .selectAll()
    .where((eb) => allOf(eb, { org_id: orgId, user_id: userId }))
    // The open one first: a withdrawn one may be of the same millisecond.
    .orderBy((eb) =>
      eb
        .case()
        .when(eb.and([eb("accepted_at", "is", null), eb("withdrawn_at", "is", null)]))
        .then(0)
        .else(1)
        .end(),
    )
    .orderBy("created_at", "desc")
    .orderBy("id", "desc")
    .limit(1)
    .executeTakeFirst();
  return row && toRecord(row);
}
