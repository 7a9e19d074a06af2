/** An organisation keeps at least one administrator. */
import type { Db } from "../../../db/open.ts";
import { isLastBreakGlass } from "../../break-glass/last-break-glass.ts";
import { lockOrganisation } from "../../organisations/organisations.store.ts";
import { listActiveAdministrators } from "../members/administrators.store.ts";
import { isAdministrator, type MemberKey } from "./leaving.store.ts";

export class LastAdministrator extends Error {
  readonly orgId: string;
  constructor(orgId: string) {
    super("the organisation would be left without an administrator");
    this.name = "LastAdministrator";
    this.orgId = orgId;
  }
}

/** Nobody else could come in past an enforced connection: refused wherever the last administrator is. */
export class LastBreakGlassAdministrator extends LastAdministrator {
  constructor(orgId: string) {
    super(orgId);
    this.name = "LastBreakGlassAdministrator";
    this.message = "the organisation would be left without a break-glass administrator";
  }
}

/**
 * Before a break-glass administrator is left without a second factor. The caller has locked the account; this locks the organisation.
 * @throws LastBreakGlassAdministrator
 */
export async function requireAnotherBreakGlass(tx: Db, member: MemberKey): Promise<void> {
  if (!(await isAdministrator(tx, member))) return;
  await lockOrganisation(tx, member.orgId);
  if (await isLastBreakGlass(tx, member.orgId, member.userId))
    throw new LastBreakGlassAdministrator(member.orgId);
}

/**
 * Call it first in the transaction: it locks the organisation, so that concurrent removals run one after the other.
 * Does nothing for users who aren't administrators.
 * @throws LastAdministrator
 */
export async function requireAnotherAdministrator(tx: Db, member: MemberKey): Promise<void> {
  if (!(await isAdministrator(tx, member))) return;
  await lockOrganisation(tx, member.orgId);
  const others = await listActiveAdministrators(tx, member.orgId, { limit: 1, except: member.userId });
  if (others.length === 0) throw new LastAdministrator(member.orgId);
  if (await isLastBreakGlass(tx, member.orgId, member.userId))
    throw new LastBreakGlassAdministrator(member.orgId);
}
