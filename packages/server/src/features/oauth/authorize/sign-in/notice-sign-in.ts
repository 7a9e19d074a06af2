/** Every sign-in is noted for its browser; one with a browser that the user has not used before is told by mail. */

import { sha256Base64url } from "@signet/protocol/hash";
import { noteBrowser } from "../../../../core/known-browsers/known-browsers.store.ts";
import { type NoticeOrigin, sendNotice } from "../../../../core/mail/notices.ts";
import type { User } from "../../../../core/users/user.ts";
import type { Db } from "../../../../db/open.ts";
import type { BrowserDeps, Visit } from "../browser.ts";

/** @param tx the transaction that starts the session: without it there is no notice, and no session without its notice */
export async function noticeSignIn(
  deps: BrowserDeps,
  tx: Db,
  visit: Visit,
  user: User,
  from: NoticeOrigin,
): Promise<void> {
  const { organisation, request, reply } = visit;
  const token = deps.recognition.renew(request, reply, organisation.id);
  const browserHash = sha256Base64url(token);
  const use = { orgId: organisation.id, userId: user.id, browserHash, now: deps.clock() };
  if (await noteBrowser(tx, use)) return;
  await sendNotice(tx, deps, user, { template: "NewSignIn" }, from);
}
