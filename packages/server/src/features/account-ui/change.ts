/** The frame of one change's page, and the way back from it. */

import type { SignedIn } from "../../core/sessions/session.ts";
import { copyScript } from "../../html/scripts.ts";
import { goTo, show, type Visit } from "../../page-kit/page.ts";
import { type AccountDeps, accountFrame, accountPath } from "./account-page.ts";
import { type ChangeFrame, shownCodesPage } from "./change.page.ts";
import type { SecurityDone } from "./security/security.page.ts";

/** @param rest the page's address under `account/security/` */
export function changeFrame(deps: AccountDeps, visit: Visit, { user }: SignedIn, rest: string): ChangeFrame {
  const { organisation } = visit;
  return {
    ...accountFrame(visit, user, "security"),
    csrf: deps.browserSession.formBinding(visit).csrf,
    action: changePath(visit, rest),
    backUri: accountPath(organisation, "security"),
  };
}

/** What a form is answered with before anything is done with it: see `Rejection` in page-kit/accept-form.ts. */
export const notTakenTexts = ({ messages: { security, console: texts } }: Pick<ChangeFrame, "messages">) => ({
  expired: { title: security.expired, text: security.expiredText },
  unreadable: { title: texts.frame.form.unreadable, text: texts.frame.form.unreadableText },
});

export const changePath = ({ organisation }: Visit, rest: string): string =>
  accountPath(organisation, `security/${rest}`);

/** Back to the list, which says what was done. */
export const backWith = (visit: Visit, done: SecurityDone): Promise<void> =>
  goTo(visit, `${accountPath(visit.organisation, "security")}?done=${done}`);

/** Codes are shown once, right where they were made; without any it goes back to the list. */
export function finish(
  visit: Visit,
  { user }: SignedIn,
  codes: readonly string[],
  done: SecurityDone,
): Promise<void> {
  if (codes.length === 0) return backWith(visit, done);
  const frame = accountFrame(visit, user, "security");
  const page = shownCodesPage({
    ...frame,
    backUri: `${accountPath(visit.organisation, "security")}?done=${done}`,
    codes,
    script: copyScript.path,
  });
  return show(visit, frame, page);
}
