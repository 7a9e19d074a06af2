/**
 * Which memberships of groups come from a provider's claims. A row without one is a member by hand, whom no claim removes; one with
 * several rows here stays until the last connection has let go.
 */
import { sql } from "kysely";
import { allOf } from "../../../db/conditions.ts";
import { isPostgres } from "../../../db/is-postgres.ts";
import type { Db } from "../../../db/open.ts";
import type { ConnectionKey } from "../connection.ts";

export interface Claimant {
  readonly orgId: string;
  readonly connectionId: string;
  readonly userId: string;
}

/** Whoever follows other claims of the user waits, and so does the end of the membership. */
export async function lockMembership(
  tx: Db,
  { orgId, userId }: Pick<Claimant, "orgId" | "userId">,
): Promise<void> {
  if (!isPostgres(tx)) return;
  // Not `for update`: whoever links an identity refers to the row already, and two of them would wait for each other.
  await tx
    .selectFrom("membership")
    .select("user_id")
    .where((eb) => allOf(eb, { org_id: orgId, user_id: userId }))
    .forNoKeyUpdate()
    .execute();
}

/** The ids of the groups that the user is in by the connection's claims. */
export async function listClaimedGroups(
  db: Db,
  { orgId, connectionId, userId }: Claimant,
): Promise<string[]> {
  const rows = await db
    .selectFrom("group_claim")
    .select("group_id")
    .where((eb) => allOf(eb, { org_id: orgId, user_id: userId, connection_id: connectionId }))
    .orderBy("group_id")
    .execute();
  return rows.map(({ group_id }) => group_id);
}

/** Of these, those that the connection may put the user in: there, changed by no other source, and nobody has done so by hand. */
export async function findJoinableGroups(
  db: Db,
  { orgId, connectionId, userId }: Claimant,
  groupIds: readonly string[],
): Promise<string[]> {
  if (groupIds.length === 0) return [];
  const { rows } = await sql<{ id: string }>`
    select g.id from user_group g
    where g.org_id = ${orgId} and g.id in (${sql.join([...groupIds])})
      and (g.source = 'local' or g.connection_id = ${connectionId})
      and (not exists (select 1 from group_user m
          where m.org_id = ${orgId} and m.group_id = g.id and m.user_id = ${userId})
        or exists (select 1 from group_claim c
          where c.org_id = ${orgId} and c.group_id = g.id and c.user_id = ${userId}))
    order by g.id`.execute(db);
  return rows.map(({ id }) => id);
}

/** @returns whether the user was no member before */
export async function insertClaim(
  tx: Db,
  { orgId, connectionId, userId }: Claimant,
  { groupId, now }: { readonly groupId: string; readonly now: number },
): Promise<boolean> {
  const key = { org_id: orgId, group_id: groupId, user_id: userId };
  const added = await tx
    .insertInto("group_user")
    .values({ ...key, added_at: now })
    .onConflict((on) => on.doNothing())
    .returning("user_id")
    .execute();
  await tx
    .insertInto("group_claim")
    .values({ ...key, connection_id: connectionId })
    .onConflict((on) => on.doNothing())
    .execute();
  return added.length > 0;
}

/** @returns the ids of the users who are no members of the group any more */
export async function deleteClaims(
  tx: Db,
  { orgId, id: connectionId }: ConnectionKey,
  { groupId, userId }: { readonly groupId: string; readonly userId?: string },
): Promise<string[]> {
  const key = { org_id: orgId, group_id: groupId };
  const of = userId === undefined ? key : { ...key, user_id: userId };
  const claims = await tx
    .deleteFrom("group_claim")
    .where((eb) => allOf(eb, { ...of, connection_id: connectionId }))
    .returning("user_id")
    .execute();
  const ended: string[] = [];
  for (let at = 0; at < claims.length; at += MAX_ROWS) {
    const users = claims.slice(at, at + MAX_ROWS).map(({ user_id }) => user_id);
    const rows = await tx
      .deleteFrom("group_user")
      .where((eb) => allOf(eb, key))
      .where("user_id", "in", users)
      .where(({ not, exists, selectFrom }) =>
        not(
          exists(
            selectFrom("group_claim as other")
              .select("other.user_id")
              .where("other.org_id", "=", orgId)
              .where("other.group_id", "=", groupId)
              .whereRef("other.user_id", "=", "group_user.user_id"),
          ),
        ),
      )
      .returning("user_id")
      .execute();
    ended.push(...rows.map(({ user_id }) => user_id));
  }
  return ended;
}

/** Databases limit the parameters of a statement. */
const MAX_ROWS = 1_000;

/** Those that somebody is in by the connection's claims. */
export async function listGroupsWithClaims(
  db: Db,
  { orgId, id: connectionId }: ConnectionKey,
): Promise<string[]> {
  const rows = await db
    .selectFrom("group_claim")
    .select("group_id")
    .distinct()
    .where((eb) => allOf(eb, { org_id: orgId, connection_id: connectionId }))
    .orderBy("group_id")
    .execute();
  return rows.map(({ group_id }) => group_id);
}

/** Of these, those that a connection may put people in, by their ids. @param connectionId of one that is there already */
export async function findMappableGroups(
  db: Db,
  { orgId, connectionId }: { readonly orgId: string; readonly connectionId: string },
  groupIds: readonly string[],
): Promise<ReadonlySet<string>> {
  if (groupIds.length === 0) return new Set();
  const rows = await db
    .selectFrom("user_group")
    .select("id")
    .where("org_id", "=", orgId)
    .where("id", "in", groupIds)
    .where((eb) => eb.or([eb("source", "=", "local"), eb("connection_id", "=", connectionId)]))
    .execute();
  return new Set(rows.map(({ id }) => id));
}

export interface MappableGroup {
  readonly id: string;
  readonly name: string;
}

const MAX_LISTED = 10_000;

/** All that `findMappableGroups` could find, by name. */
export async function listMappableGroups(
  db: Db,
  { orgId, connectionId }: { readonly orgId: string; readonly connectionId: string },
): Promise<MappableGroup[]> {
  return db
    .selectFrom("user_group")
    .select(["id", "display_name as name"])
    .where("org_id", "=", orgId)
    .where((eb) => eb.or([eb("source", "=", "local"), eb("connection_id", "=", connectionId)]))
    .orderBy("name_key")
    .limit(MAX_LISTED)
    .execute();
}

/** To another source: who is in it stays so by hand, or by the claims of the connection that takes it over. */
export async function handOverClaims(
  tx: Db,
  { orgId, id }: { readonly orgId: string; readonly id: string },
  connectionId: string | null,
): Promise<void> {
  await tx
    .deleteFrom("group_claim")
    .where((eb) => allOf(eb, { org_id: orgId, group_id: id }))
    .execute();
  if (connectionId === null) return;
  await sql`insert into group_claim (org_id, group_id, user_id, connection_id)
    select org_id, group_id, user_id, cast(${connectionId} as text) from group_user
    where org_id = ${orgId} and group_id = ${id}`.execute(tx);
}
