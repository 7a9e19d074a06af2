/** An organisation keeps an administrator: whoever deletes, disables or demotes the last one is refused. */
import type { Db } from "../../../db/open.ts";
import { holdOrganisation } from "../../organisations/organisations.store.ts";
import { hasOtherAdministrator, isAdministrator, type MemberKey } from "./leaving.store.ts";

export class LastAdministrator extends Error {
  readonly orgId: string;
  constructor(orgId: string) {
    super("the organisation would have no administrator any more");
    this.name = "LastAdministrator";
    this.orgId = orgId;
  }
}

/**
 * To be called in the transaction of the act, before it: others who end an administrator of the same organisation wait
 * until it is over. Whoever is no administrator passes.
 * @throws LastAdministrator
 */
export async function requireAnotherAdministrator(tx: Db, member: MemberKey): Promise<void> {
  if (!(await isAdministrator(tx, member))) return;
  await holdOrganisation(tx, member.orgId);
  if (!(await hasOtherAdministrator(tx, member))) throw new LastAdministrator(member.orgId);
}
