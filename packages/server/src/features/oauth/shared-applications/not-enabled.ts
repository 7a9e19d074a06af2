/** An authorization request of an application that another organisation offers, and this one has not enabled (connections.md §7). */
import type { Form } from "@signet/protocol/form";
import { isUuid } from "@signet/protocol/hash";
import { matchRedirectUri } from "@signet/protocol/oauth/redirect-uri";
import { findShared } from "../../../core/shared-applications/shared-applications.ts";
import { waitingRequestCookies } from "../../../http/cookies/browser-cookies.ts";
import {
  type BrowserDeps,
  currentSession,
  pageApplication,
  pageFrame,
  redirectTo,
  show,
  type Visit,
} from "../authorize/browser.ts";
import { notEnabledPage } from "./not-enabled.page.ts";

/** @returns whether the response has been sent: false for every application that is enabled here, or not offered */
export async function answerNotEnabled(deps: BrowserDeps, visit: Visit, { values }: Form): Promise<boolean> {
  const { organisation } = visit;
  const clientId = values.get("client_id")?.toLowerCase() ?? "";
  if (!isUuid(clientId) || (await deps.applications.find(organisation.id, clientId))) return false;
  const shared = await findShared(deps.database.query, { orgId: organisation.id, id: clientId });
  if (!shared || shared.copy) return false;
  const { settings, clientType } = shared.home;
  if (!matchRedirectUri(values.get("redirect_uri") ?? "", settings.redirectUris, clientType)) return false;
  const allowUri = `/oauth/manage/${organisation.id}/shared-applications/${clientId}/allow`;
  // The request comes again once an administrator has allowed the application.
  const { url } = visit.request;
  waitingRequestCookies(deps.baseUrl).write(visit.reply, organisation.id, url.slice(url.indexOf("?") + 1));
  const signedIn = await currentSession(deps, visit);
  if (signedIn?.user.role === "Administrator") {
    await redirectTo(visit, allowUri);
    return true;
  }
  const frame = pageFrame(visit, values.get("ui_locales")?.slice(0, 200), signedIn?.user);
  const page = notEnabledPage({ ...frame, application: pageApplication(shared.home), allowUri });
  await show(visit, frame, page, { status: 403 });
  return true;
}
