/**
 * A sign-in by email proves the address. Of an account whose address nobody had proven, whoever made it may know the password, and
 * sessions may be theirs: they end, as with a reset (connections.md §5, "pre-hijack"). A second factor is asked for at every sign-in.
 */
import { recordAuditEvent } from "../audit/audit.store.ts";
import type { CoreDeps } from "../core-deps.ts";
import type { NoticeDeps } from "../mail/notices.ts";
import { findPasswordChange, setEmailVerified } from "./account.store.ts";
import type { User } from "./user.ts";
import { replacePassword } from "./users.ts";

/** Only the home organisation changes an account. */
export async function proveAddress(
  deps: CoreDeps & NoticeDeps,
  user: User,
  address: string | undefined,
): Promise<void> {
  const { id, homeOrgId: orgId, email } = user;
  if (user.emailVerified || orgId !== user.orgId) return;
  await deps.database.transaction(async (tx) => {
    const now = deps.clock();
    const act = { orgId, actor: `user:${id}`, address } as const;
    if ((await findPasswordChange(tx, user)) !== null)
      await replacePassword(tx, deps, { ...act, id, hash: null, action: "password.reset" });
    if (await setEmailVerified(tx, { orgId, id, email }, now))
      await recordAuditEvent(tx, { ...act, at: now, action: "email.verified", target: id });
  });
}
