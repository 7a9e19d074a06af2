/**
 * account/sessions: the user's sessions. account/sessions/end?id=…: ends one; without the id all of them, with every
 * refresh token. Neither needs recent authentication: a user who suspects an intruder must be able to act immediately.
 */

import type { FastifyInstance } from "fastify";
import { browserName } from "../../../core/known-browsers/browser-name.ts";
import { endUserSession, listUserSessions, signOutEverywhere } from "../../../core/sessions/end-sessions.ts";
import type { SignedIn } from "../../../core/sessions/session.ts";
import { NotFound } from "../../../http/errors.ts";
import { parsedForm, parseQuery } from "../../../http/form-body.ts";
import { addressOf } from "../../../http/listeners/client-address.ts";
import type { Rejection } from "../../../page-kit/accept-form.ts";
import { ALREADY_APPLIED } from "../../../page-kit/console-frame.ts";
import { redirectTo, show, type Visit } from "../../../page-kit/page.ts";
import { acceptAccountForm, askForIdentity } from "../account-form.ts";
import {
  type AccountDeps,
  accountFrame,
  accountPath,
  accountRoute,
  requireSignedIn,
} from "../account-page.ts";
import { confirmPage } from "../change.page.ts";
import { rejectionTexts } from "../change.ts";
import { sessionsPage } from "./sessions.page.ts";

const SESSIONS = "sessions";
const END = "sessions/end";

export function sessionsRoutes(app: FastifyInstance, deps: AccountDeps): void {
  accountRoute(app, deps, "/oauth/:org/account/sessions", {
    get: async (visit) => {
      const signedIn = await requireSignedIn(deps, visit, accountPath(visit.organisation, SESSIONS));
      await showSessions(deps, visit, signedIn);
    },
  });
  accountRoute(app, deps, "/oauth/:org/account/sessions/end", {
    get: async (visit) => {
      const id = parseQuery(visit.request).values.get("id");
      const signedIn = await requireSignedIn(deps, visit, endPath(visit, id));
      await askToConfirm(deps, visit, signedIn, id);
    },
    post: async (visit) => {
      const id = parsedForm(visit.request).values.get("id");
      const rules = { allowsGuests: true, allowsOldSignIn: true };
      const form = await acceptAccountForm(deps, visit, endPath(visit, id), rules);
      if (form.outcome === "reauthenticate") return askForIdentity(deps, visit, form);
      const { signedIn } = form;
      if (form.outcome === "rejected")
        return askToConfirm(deps, visit, signedIn, id, form.refusal.failure?.kind);
      await endSessions(deps, visit, signedIn, id);
    },
  });
}

const endPath = ({ organisation }: Visit, id: string | undefined): string =>
  accountPath(organisation, id === undefined ? END : `${END}?id=${encodeURIComponent(id)}`);

const signedOutPath = ({ organisation }: Visit): string => `/oauth/${organisation.id}/end_session`;

async function showSessions(deps: AccountDeps, visit: Visit, { session, user }: SignedIn): Promise<void> {
  const { organisation } = visit;
  const frame = accountFrame(visit, user, "sessions");
  const list = await listUserSessions(deps, organisation, user.id);
  const page = sessionsPage({
    ...frame,
    isDone: parseQuery(visit.request).values.get("done") === "ended",
    sessions: list.map((one) => ({
      name: browserName(one.userAgent),
      isCurrent: one.id === session.id,
      signedInAt: one.createdAt,
      lastUsedAt: one.lastSeenAt,
      address: one.address,
      applications: one.applications,
      // Ending the current session is an ordinary sign-out.
      endUri: one.id === session.id ? signedOutPath(visit) : endPath(visit, one.id),
    })),
    everywhereUri: endPath(visit, undefined),
  });
  return show(visit, frame, page);
}

async function askToConfirm(
  deps: AccountDeps,
  visit: Visit,
  { user }: SignedIn,
  id: string | undefined,
  failure?: Rejection,
): Promise<void> {
  const { organisation } = visit;
  const list = await listUserSessions(deps, organisation, user.id);
  const session = list.find((one) => one.id === id);
  if (id !== undefined && !session) throw new NotFound("session");
  const frame = accountFrame(visit, user, "sessions");
  const { sessions: text } = frame.messages;
  const page = confirmPage({
    ...frame,
    csrf: deps.browserSession.formBinding(visit).csrf,
    action: accountPath(organisation, END),
    backUri: accountPath(organisation, SESSIONS),
    failure: failure && rejectionTexts(frame)[failure],
    ...(session
      ? {
          heading: text.endHeading({ browser: browserName(session.userAgent) ?? text.unknown }),
          text: text.endText,
          confirm: text.end,
          fields: [{ name: "id", value: session.id }],
        }
      : { heading: text.everywhereHeading, text: text.everywhereText, confirm: text.everywhere }),
  });
  return show(visit, frame, page, failure ? 403 : 200);
}

async function endSessions(
  deps: AccountDeps,
  visit: Visit,
  { user }: SignedIn,
  id: string | undefined,
): Promise<void> {
  const { organisation, request } = visit;
  const target = {
    orgId: organisation.id,
    userId: user.id,
    actor: `user:${user.id}`,
    address: addressOf(request),
  };
  if (id === undefined) {
    await signOutEverywhere(deps, target);
    return redirectTo(visit, signedOutPath(visit));
  }
  const isDone = await endUserSession(deps, { ...target, sessionId: id });
  await redirectTo(
    visit,
    `${accountPath(organisation, SESSIONS)}?done=${isDone ? "ended" : ALREADY_APPLIED}`,
  );
}
