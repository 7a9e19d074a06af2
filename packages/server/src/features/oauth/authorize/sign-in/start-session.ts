/** Starts the session of a sign-in, records its browser, and notifies the user by email of one they have not used before. */
import { sha256Base64url } from "@signet/protocol/hash";
import { countSignIn } from "../../../../core/activity/kinds.ts";
import type { Application } from "../../../../core/applications/application.ts";
import { recordBrowserUse } from "../../../../core/known-browsers/known-browsers.store.ts";
import { sendNotice } from "../../../../core/mail/notices.ts";
import type { SignedIn } from "../../../../core/sessions/session.ts";
import { type StartedSession, startSession } from "../../../../core/sessions/sessions.ts";
import type { User } from "../../../../core/users/user.ts";
import type { Db } from "../../../../db/open.ts";
import { offerBinding } from "../../device-bound-sessions/offer-binding.ts";
import { type BrowserDeps, requestOrigin, type Visit } from "../browser.ts";

/** What a sign-in is for: an application, or a page of this server. */
export interface SignInTarget {
  readonly uiLocales?: string | undefined;
  readonly application?: Pick<Application, "id"> | undefined;
}

export interface BrowserSignIn {
  readonly user: User;
  readonly amr: readonly string[];
  readonly acr: string;
  /** Milliseconds: when the first factor was verified, now by default. */
  readonly authTime?: number;
  readonly request: SignInTarget;
  readonly before: SignedIn | undefined;
  /** Of `deviceOfBrowser`, before the transaction. */
  readonly deviceId: string | undefined;
}

/** @param tx the transaction that consumes the proof */
export async function startBrowserSession(
  deps: BrowserDeps,
  tx: Db,
  visit: Visit,
  { request: { uiLocales, application }, ...signIn }: BrowserSignIn,
): Promise<StartedSession> {
  const { organisation, request, reply } = visit;
  const { user } = signIn;
  const now = deps.clock();
  const origin = requestOrigin(visit, uiLocales);
  const browserHash = sha256Base64url(deps.recognition.renew(request, reply, organisation.id));
  if (!(await recordBrowserUse(tx, { orgId: organisation.id, userId: user.id, browserHash, now })))
    await sendNotice(tx, deps, user, { template: "NewSignIn" }, origin);
  return startSession(tx, { organisation, ...signIn, ...origin, applicationId: application?.id }, now);
}

/** After the transaction: sets the session cookie. */
export function finishSignIn(
  deps: BrowserDeps,
  { organisation, reply }: Visit,
  started: StartedSession,
): void {
  countSignIn(deps.activity.count, organisation.id, started.session.amr);
  sendSession(deps, { organisation, reply }, started);
}

/** The cookie, and the offer to bind the session to a key of the browser's machine. */
export function sendSession(
  deps: BrowserDeps,
  { organisation, reply }: Pick<Visit, "organisation" | "reply">,
  { session, token }: StartedSession,
): void {
  const { id, settings } = organisation;
  deps.cookies.write(reply, id, token, settings.sessionLifetimeSeconds);
  offerBinding(deps, { organisation, reply }, session);
}
