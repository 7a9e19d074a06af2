/** While a domain is enforced, somebody must be able to come in past its connection. */
import type { Db } from "../../db/open.ts";
import { hasEnforcedDomain } from "../domains/domains.store.ts";
import { listBreakGlassAccounts } from "./break-glass.store.ts";

/** Whether nobody could without this user. The caller has locked the organisation. */
export async function isLastBreakGlass(tx: Db, orgId: string, userId: string): Promise<boolean> {
  if (!(await hasEnforcedDomain(tx, orgId))) return false;
  const accounts = await listBreakGlassAccounts(tx, orgId);
  // The transaction may have disabled this one already.
  return (
    accounts.some((account) => account.userId === userId) &&
    !accounts.some((account) => account.userId !== userId && account.isUsable)
  );
}
