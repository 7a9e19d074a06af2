/** Changes a member's role. */
import type { Database } from "../../../db/open.ts";
import { recordAuditEvent } from "../../audit/audit.store.ts";
import type { Clock } from "../../clock.ts";
import { requireAnotherAdministrator } from "../leaving/last-administrator.ts";
import type { Role } from "../user.ts";
import { findUser, lockUserAccount } from "../users.store.ts";
import { setRole } from "./members.store.ts";

/**
 * For guests too. Does nothing when the member already has the role.
 * @returns false when there is no such member.
 * @throws LastAdministrator
 */
export function changeRole(
  deps: { readonly database: Database; readonly clock: Clock },
  change: { orgId: string; id: string; role: Role; actor: string; address?: string | undefined },
): Promise<boolean> {
  const { orgId, id, role, actor, address } = change;
  return deps.database.transaction(async (tx) => {
    const now = deps.clock();
    const found = await findUser(tx, orgId, id);
    if (!found) return false;
    await lockUserAccount(tx, found, now);
    const user = await findUser(tx, orgId, id);
    if (!user) return false;
    if (user.role === role) return true;
    if (role !== "Administrator") await requireAnotherAdministrator(tx, { orgId, userId: id });
    await setRole(tx, { orgId, userId: id }, role);
    const event = { orgId, at: now, actor, action: "user.role-changed", target: id, address } as const;
    await recordAuditEvent(tx, { ...event, details: { from: user.role, to: role } });
    return true;
  });
}
