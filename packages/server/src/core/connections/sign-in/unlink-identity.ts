/** Takes an identity at a provider off an account, unless it is the last way in (connections.md §4). */
import type { Db } from "../../../db/open.ts";
import { type Act, auditFields, recordAuditEvent } from "../../audit/audit.store.ts";
import type { RecordDeps } from "../../record-changes.ts";
import { factorOwner } from "../../second-factors/factor-status.ts";
import { findFactorSummary } from "../../second-factors/second-factors.store.ts";
import { findPasswordChangedAt, lockUserAccount } from "../../users/account.store.ts";
import type { User } from "../../users/user.ts";
import { findUser } from "../../users/users.store.ts";
import { applyClaimedGroups } from "./claimed-groups.ts";
import { deleteIdentity, listIdentities } from "./linked-identities.store.ts";
import { endUpstreamSessions } from "./upstream-sign-ins.ts";

/** Without it nobody could sign in to the account. */
export class LastWayIn extends Error {
  override readonly name = "LastWayIn";
  constructor() {
    super("the account has no password, no passkey and no other connection");
  }
}

/** @returns false when the user has no identity at this connection. @throws LastWayIn */
export function unlinkIdentity(
  deps: RecordDeps,
  { userId, connectionId, ...act }: Act & { readonly userId: string; readonly connectionId: string },
): Promise<boolean> {
  return deps.database.transaction(async (tx) => {
    const now = deps.clock();
    const { orgId } = act;
    const user = await findUser(tx, orgId, userId);
    if (!user) return false;
    // Of two at once the second sees what the first has left.
    await lockUserAccount(tx, user, now);
    const all = await listIdentities(tx, { orgId, userIds: [userId] });
    if (!all.some((one) => one.connectionId === connectionId)) return false;
    const others = all.filter((one) => one.connectionId !== connectionId && one.isEnabled);
    if (others.length === 0 && !(await hasOwnCredential(tx, user))) throw new LastWayIn();
    await unlinkIn(tx, deps, { ...act, userId, connectionId });
    return true;
  });
}

/** Of an account whose owner has only now proven the address: whoever was linked before may be somebody else. The caller has locked it. */
export async function unlinkAllIdentities(
  tx: Db,
  deps: RecordDeps,
  account: Act & { readonly userId: string },
): Promise<void> {
  const { orgId, userId } = account;
  for (const { connectionId } of await listIdentities(tx, { orgId, userIds: [userId] }))
    await unlinkIn(tx, deps, { ...account, connectionId });
}

async function unlinkIn(
  tx: Db,
  deps: RecordDeps,
  { userId, connectionId, ...act }: Act & { readonly userId: string; readonly connectionId: string },
): Promise<void> {
  const now = deps.clock();
  const { orgId } = act;
  await applyClaimedGroups(tx, deps, { act, connectionId, userId, groupIds: [] });
  await endUpstreamSessions(tx, { orgId, connectionId, userId }, { act, reason: "connection_ended", now });
  await deleteIdentity(tx, { orgId, userId, connectionId });
  const event = { action: "identity.unlinked" as const, target: userId, details: { connectionId } };
  await recordAuditEvent(tx, { ...auditFields(act, now), ...event });
}

const hasOwnCredential = async (tx: Db, user: User): Promise<boolean> =>
  (await findPasswordChangedAt(tx, user)) !== null ||
  (await findFactorSummary(tx, factorOwner(user))).passkeys > 0;
