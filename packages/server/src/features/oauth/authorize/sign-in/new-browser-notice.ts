/** Records the browser of every sign-in, and notifies the user by email of one they have not used before. */
import { sha256Base64url } from "@signet/protocol/hash";
import { noteBrowser } from "../../../../core/known-browsers/known-browsers.store.ts";
import { type NoticeOrigin, sendNotice } from "../../../../core/mail/notices.ts";
import type { User } from "../../../../core/users/user.ts";
import type { Db } from "../../../../db/open.ts";
import type { BrowserDeps, Visit } from "../browser.ts";

/** @param tx the transaction that starts the session */
export async function notifyNewBrowser(
  deps: BrowserDeps,
  tx: Db,
  { organisation, request, reply }: Visit,
  user: User,
  origin: NoticeOrigin,
): Promise<void> {
  const browserHash = sha256Base64url(deps.recognition.renew(request, reply, organisation.id));
  const use = { orgId: organisation.id, userId: user.id, browserHash, now: deps.clock() };
  if (await noteBrowser(tx, use)) return;
  await sendNotice(tx, deps, user, { template: "NewSignIn" }, origin);
}
