/** Frame of a change page under account/security, and what follows the change. */

import type { SignedIn } from "../../core/sessions/session.ts";
import { copyScript } from "../../html/scripts.ts";
import { redirectTo, show, type Visit } from "../../page-kit/page.ts";
import { type AccountDeps, accountFrame, accountPath } from "./account-page.ts";
import { type ChangeFrame, shownCodesPage } from "./change.page.ts";
import type { SecurityDone } from "./security/security.page.ts";

/** @param rest the path below `account/security/` */
export function changeFrame(deps: AccountDeps, visit: Visit, { user }: SignedIn, rest: string): ChangeFrame {
  const { organisation } = visit;
  return {
    ...accountFrame(visit, user, "security"),
    csrf: deps.browserSession.formBinding(visit).csrf,
    action: changePath(visit, rest),
    backUri: accountPath(organisation, "security"),
  };
}

/** Notice by `Rejection` (page-kit/accept-form.ts). */
export const rejectionTexts = ({
  messages: { security, console: texts },
}: Pick<ChangeFrame, "messages">) => ({
  expired: { title: security.expired, text: security.expiredText },
  unreadable: { title: texts.frame.form.unreadable, text: texts.frame.form.unreadableText },
});

export const changePath = ({ organisation }: Visit, rest: string): string =>
  accountPath(organisation, `security/${rest}`);

export const backToSecurity = (visit: Visit, done: SecurityDone): Promise<void> =>
  redirectTo(visit, `${accountPath(visit.organisation, "security")}?done=${done}`);

/** Shows new recovery codes once; redirects to the security page if there are none. */
export function finishChange(
  visit: Visit,
  { user }: SignedIn,
  codes: readonly string[],
  done: SecurityDone,
): Promise<void> {
  if (codes.length === 0) return backToSecurity(visit, done);
  const frame = accountFrame(visit, user, "security");
  const page = shownCodesPage({
    ...frame,
    backUri: `${accountPath(visit.organisation, "security")}?done=${done}`,
    codes,
    script: copyScript.path,
  });
  return show(visit, frame, page);
}
