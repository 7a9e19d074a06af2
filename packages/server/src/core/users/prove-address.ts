/**
 * A sign-in by email proves the address. Of an account whose address nobody had proven, whoever made it may know the password, and
 * sessions and linked identities may be theirs: they end, as with a reset (connections.md §5, "pre-hijack"). A second factor may be
 * theirs too: then the address is proven only by who shows it (complete-sign-in.ts), so that a passkey of somebody else's never
 * gets the account a proven address.
 */
import { recordAuditEvent } from "../audit/audit.store.ts";
import { unlinkAllIdentities } from "../connections/sign-in/unlink-identity.ts";
import type { NoticeDeps } from "../mail/notices.ts";
import type { RecordDeps } from "../record-changes.ts";
import { factorOwner } from "../second-factors/factor-status.ts";
import { mustVerifyFactor } from "../second-factors/second-factor.ts";
import { findFactorSummary } from "../second-factors/second-factors.store.ts";
import { findPasswordChange, lockUserAccount, setEmailVerified } from "./account.store.ts";
import type { User } from "./user.ts";
import { replacePassword } from "./users.ts";

/** Only the home organisation changes an account. */
export async function proveAddress(
  deps: RecordDeps & NoticeDeps,
  user: User,
  address: string | undefined,
): Promise<void> {
  const { id, homeOrgId: orgId, email } = user;
  if (user.emailVerified || orgId !== user.orgId) return;
  const owner = factorOwner(user);
  if (mustVerifyFactor(await findFactorSummary(deps.database.query, owner))) return;
  const act = { orgId, actor: `user:${id}`, address } as const;
  await deps.database.transaction(async (tx) => {
    if ((await findPasswordChange(tx, user)) !== null)
      await replacePassword(tx, deps, { ...act, id, hash: null, action: "password.reset" });
  });
  // On their own, because links and sessions are locked in another order. Nobody is signed in any more to add anything.
  await deps.database.transaction(async (tx) => {
    const now = deps.clock();
    await lockUserAccount(tx, user, now);
    if (mustVerifyFactor(await findFactorSummary(tx, owner))) return;
    await unlinkAllIdentities(tx, deps, { ...act, userId: id });
    if (await setEmailVerified(tx, { orgId, id, email }, now))
      await recordAuditEvent(tx, { ...act, at: now, action: "email.verified", target: id });
  });
}
