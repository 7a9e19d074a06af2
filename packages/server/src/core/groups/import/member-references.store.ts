/** Finds members by what a list names them by: many in a few statements. */
import { isUuid } from "@signet/protocol/hash";
import type { Db } from "../../../db/open.ts";
import { findHomeAccounts, listGuests } from "../../users/members/guests.store.ts";
import type { MemberRef } from "../group-members.store.ts";
import type { GroupKey } from "../groups.store.ts";
import { findLocalGroups } from "../groups.store.ts";

/** Databases limit the parameters of a statement. */
const MAX_ROWS = 500;

async function inPortions<T>(all: readonly string[], read: (some: string[]) => Promise<T[]>): Promise<T[]> {
  const found: T[] = [];
  const unique = [...new Set(all)];
  for (let at = 0; at < unique.length; at += MAX_ROWS)
    found.push(...(await read(unique.slice(at, at + MAX_ROWS))));
  return found;
}

/** Users of the organisation, and its guests. @param keys as of `emailKey`. @returns PermIds by key */
export async function findMembersByEmail(
  db: Db,
  orgId: string,
  keys: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const own = await inPortions(keys, (some) =>
    db
      .selectFrom("user_account")
      .select(["email_key", "id"])
      .where("org_id", "=", orgId)
      .where("email_key", "in", some)
      .execute(),
  );
  const found = new Map(own.map(({ email_key, id }) => [email_key, id]));
  const missing = new Set(keys.filter((key) => !found.has(key)));
  if (missing.size === 0) return found;
  const guests = await listGuests(db, orgId);
  const homes = await findHomeAccounts(db, guests);
  for (const guest of guests) {
    const key = homes.of(guest)?.email_key;
    if (key !== undefined && missing.has(key) && !found.has(key)) found.set(key, guest.id);
  }
  return found;
}

/** Groups that the organisation itself changes. @param keys as of `groupNameKey`. @returns ids by key */
export async function findGroupsByName(
  db: Db,
  orgId: string,
  keys: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  return new Map(await inPortions(keys, async (some) => [...(await findLocalGroups(db, orgId, some))]));
}

/** Members and groups of the organisation, by id. */
export async function findMembersById(
  db: Db,
  orgId: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, MemberRef>> {
  const possible = ids.filter(isUuid);
  const users = await inPortions(possible, (some) =>
    db
      .selectFrom("membership")
      .select("user_id as id")
      .where("org_id", "=", orgId)
      .where("user_id", "in", some)
      .execute(),
  );
  const groups = await inPortions(possible, (some) =>
    db.selectFrom("user_group").select("id").where("org_id", "=", orgId).where("id", "in", some).execute(),
  );
  return new Map<string, MemberRef>([
    ...groups.map(({ id }) => [id, { type: "group", id }] as const),
    ...users.map(({ id }) => [id, { type: "user", id }] as const),
  ]);
}

/** Those of the ids that are direct members of the group. */
export async function findPresentMembers(
  db: Db,
  { orgId, id: groupId }: GroupKey,
  members: readonly MemberRef[],
): Promise<ReadonlySet<string>> {
  const idsOf = (kind: MemberRef["type"]) => members.filter(({ type }) => type === kind).map(({ id }) => id);
  const users = await inPortions(idsOf("user"), (some) =>
    db
      .selectFrom("group_user")
      .select("user_id as id")
      .where("org_id", "=", orgId)
      .where("group_id", "=", groupId)
      .where("user_id", "in", some)
      .execute(),
  );
  const groups = await inPortions(idsOf("group"), (some) =>
    db
      .selectFrom("group_nested")
      .select("member_id as id")
      .where("org_id", "=", orgId)
      .where("group_id", "=", groupId)
      .where("member_id", "in", some)
      .execute(),
  );
  return new Set([...users, ...groups].map(({ id }) => id));
}
