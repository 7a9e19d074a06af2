/** Changes a member's role. */
import { type Act, auditFields, recordAuditEvent } from "../../audit/audit.store.ts";
import type { CoreDeps } from "../../core-deps.ts";
import { lockUserAccount } from "../account.store.ts";
import { requireAnotherAdministrator } from "../leaving/last-administrator.ts";
import type { Role } from "../user.ts";
import { findUser } from "../users.store.ts";
import { setRole } from "./members.store.ts";

/**
 * For guests too. Does nothing when the member already has the role.
 * @returns false when there is no such member.
 * @throws LastAdministrator
 */
export function changeRole(
  deps: CoreDeps,
  change: Act & { readonly id: string; readonly role: Role },
): Promise<boolean> {
  const { orgId, id, role } = change;
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
    const event = { ...auditFields(change, now), action: "user.role-changed", target: id } as const;
    await recordAuditEvent(tx, { ...event, details: { from: user.role, to: role } });
    return true;
  });
}
