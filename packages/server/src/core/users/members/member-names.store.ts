/** How members are named in lists of something else. */
import type { Db } from "../../../db/open.ts";
import { withHomeAccounts } from "./guests.store.ts";
import { memberships } from "./members.store.ts";

export interface MemberName {
  readonly id: string;
  readonly email: string;
  readonly firstname: string;
  readonly surname: string;
}

/** Databases limit the parameters of a statement. */
const MAX_IDS = 500;

/** By PermId; without those that are no members. */
export async function findMemberNames(
  db: Db,
  orgId: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, MemberName>> {
  const found = new Map<string, MemberName>();
  const wanted = [...new Set(ids)];
  for (let at = 0; at < wanted.length; at += MAX_IDS)
    for (const name of await someNames(db, orgId, wanted.slice(at, at + MAX_IDS))) found.set(name.id, name);
  return found;
}

async function someNames(db: Db, orgId: string, ids: readonly string[]): Promise<MemberName[]> {
  const rows = await memberships(db, orgId)
    .select(["membership.home_org_id", "membership.user_id"])
    .select(["user_account.id", "user_account.email", "firstname", "surname"])
    .where("membership.user_id", "in", ids)
    .execute();
  const members = await withHomeAccounts(db, orgId, rows);
  return members.map(([own, guest]) => {
    const { email, firstname, surname } = guest ?? own;
    return { id: own.user_id, email: email ?? "", firstname: firstname ?? "", surname: surname ?? "" };
  });
}
