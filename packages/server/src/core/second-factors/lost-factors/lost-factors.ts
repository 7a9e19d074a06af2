/**
 * A user who has lost every second factor asks the administrators of the home organisation to reset them: audit event,
 * emails, and an entry of the overview. The password was checked before, so nothing tells whether an account exists.
 */

import { recordAuditEvent } from "../../audit/audit.store.ts";
import type { CoreDeps } from "../../core-deps.ts";
import { browserName } from "../../known-browsers/browser-name.ts";
import { NO_LANGUAGE } from "../../mail/mail.ts";
import type { NoticeDeps, NoticeOrigin } from "../../mail/notices.ts";
import { reachableAdministrators } from "../../users/members/administrators.store.ts";
import type { User } from "../../users/user.ts";
import { factorOwner } from "../factor-status.ts";
import { insertFactorResetRequest } from "./lost-factors.store.ts";

const DAY_MS = 86_400_000;
/** Asked again within a day, nobody is told again. */
const REPEATED_MS = DAY_MS;
/** How long a request is shown to administrators. */
export const REQUEST_SHOWN_MS = 14 * DAY_MS;
const MAX_RECIPIENTS = 20;

/** @returns false when the administrators were told within the last day */
export function requestFactorReset(
  deps: CoreDeps & NoticeDeps & { readonly baseUrl: string },
  user: User,
  { address, userAgent }: NoticeOrigin,
): Promise<boolean> {
  const { homeOrgId: orgId, id, email, emailVerified } = user;
  const now = deps.clock();
  const browser = userAgent === undefined ? undefined : browserName(userAgent);
  return deps.database.transaction(async (tx) => {
    const times = { now, since: now - REPEATED_MS };
    if (!(await insertFactorResetRequest(tx, factorOwner(user), times))) return false;
    const event = { orgId, at: now, actor: `user:${id}`, target: id, address } as const;
    await recordAuditEvent(tx, { ...event, action: "second-factors.reset-requested" });
    if (!deps.outbox.isOpen) return true;
    const data = {
      at: now,
      ...(address === undefined ? {} : { address }),
      ...(browser === undefined ? {} : { browser }),
      // An address that nobody has verified may be anybody's words.
      ...(emailVerified ? { account: email } : {}),
      recordUri: `${deps.baseUrl}/oauth/manage/${orgId}/users/${id}/security`,
    };
    for await (const administrator of reachableAdministrators(tx, orgId, MAX_RECIPIENTS))
      await deps.outbox.put(tx, {
        orgId,
        recipient: administrator.email,
        locale: administrator.locale ?? NO_LANGUAGE,
        mail: { template: "FactorResetRequested", data },
      });
    return true;
  });
}
