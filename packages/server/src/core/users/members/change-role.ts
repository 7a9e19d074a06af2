/** Who administers an organisation. */
import type { Database } from "../../../db/open.ts";
import { recordAuditEvent } from "../../audit/audit.store.ts";
import type { Clock } from "../../clock.ts";
import { requireAnotherAdministrator } from "../leaving/last-administrator.ts";
import type { Role } from "../user.ts";
import { findUser, holdAccount } from "../users.store.ts";
import { setRole } from "./members.store.ts";

/**
 * A member's role, of guests too. Nothing is written, and nothing recorded, for who has it already.
 * @returns false when there is no such member. @throws LastAdministrator
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
    await holdAccount(tx, found, now);
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
