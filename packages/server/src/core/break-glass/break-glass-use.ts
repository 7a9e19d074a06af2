/** A break-glass administrator signs in past the connection: who may, and every administrator hears of it. */
import type { Db } from "../../db/open.ts";
import { recordAuditEvent } from "../audit/audit.store.ts";
import type { CoreDeps } from "../core-deps.ts";
import { browserName } from "../known-browsers/browser-name.ts";
import { NO_LANGUAGE } from "../mail/mail.ts";
import type { NoticeDeps, NoticeOrigin } from "../mail/notices.ts";
import { reachableAdministrators } from "../users/members/administrators.store.ts";
import type { User } from "../users/user.ts";
import { listBreakGlassAccounts } from "./break-glass.store.ts";

/** Still an administrator, and still with a second factor. */
export async function mayBreakGlass(db: Db, user: User): Promise<boolean> {
  const accounts = await listBreakGlassAccounts(db, user.orgId);
  return accounts.some(({ userId, isUsable }) => userId === user.id && isUsable);
}

/** After the right password, before the second factor, or by a passkey: who has only the password is told of too. */
export function recordBreakGlassUse(
  deps: CoreDeps & NoticeDeps & { readonly baseUrl: string },
  { orgId, id, email }: User,
  { address, userAgent }: NoticeOrigin,
): Promise<void> {
  const now = deps.clock();
  const browser = userAgent === undefined ? undefined : browserName(userAgent);
  const data = {
    ...{ at: now, account: email, recordUri: `${deps.baseUrl}/oauth/manage/${orgId}/users/${id}/security` },
    ...(address === undefined ? {} : { address }),
    ...(browser === undefined ? {} : { browser }),
  };
  return deps.database.transaction(async (tx) => {
    const event = { orgId, at: now, actor: `user:${id}`, target: id, address } as const;
    await recordAuditEvent(tx, { ...event, action: "break-glass.used" });
    if (!deps.outbox.isOpen) return;
    for await (const administrator of reachableAdministrators(tx, orgId))
      await deps.outbox.put(tx, {
        orgId,
        recipient: administrator.email,
        locale: administrator.locale ?? NO_LANGUAGE,
        mail: { template: "BreakGlassUsed", data },
      });
  });
}
