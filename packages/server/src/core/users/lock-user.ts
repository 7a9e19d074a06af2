/** A user that an act is about to change, held against what others do meanwhile, on every node. */

import { lockActions } from "../actions/actions.store.ts";
import type { CoreDeps } from "../core-deps.ts";
import { lockUserAccount } from "./account.store.ts";
import { organisationsOfUser } from "./members/members.store.ts";
import type { User } from "./user.ts";
import { findUser } from "./users.store.ts";

/**
 * Locks the links before the account, as when a link is redeemed, to prevent deadlocks: an act may lock both.
 * @param deps in a transaction, until whose end it is locked
 * @returns the user as it is now; undefined when the organisation has none of this id
 */
export async function lockUser(
  { database: { query: db }, clock }: CoreDeps,
  { orgId, id }: { orgId: string; id: string },
): Promise<User | undefined> {
  const found = await findUser(db, orgId, id);
  if (!found) return undefined;
  const { homeOrgId } = found;
  const organisations = homeOrgId === orgId ? await organisationsOfUser(db, orgId, id) : [orgId];
  for (const visited of organisations) await lockActions(db, { orgId: visited, userId: id });
  await lockUserAccount(db, found, clock());
  return findUser(db, orgId, id);
}
