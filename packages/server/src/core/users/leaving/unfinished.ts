/** Ends what is under way for a user and has given no tokens yet. */
import type { Db } from "../../../db/open.ts";
import { endRequestsOfUser } from "../../signing-pools/user-requests.store.ts";
import { deleteCodes, type MemberKey } from "./leaving.store.ts";

export async function endUnfinished(tx: Db, member: MemberKey & { readonly now: number }): Promise<void> {
  await deleteCodes(tx, member);
  await endRequestsOfUser(tx, member);
}
