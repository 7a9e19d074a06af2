/**
 * account/sessions: the user's sessions. account/sessions/end?id=…: ends one; without the id all of them, with every
 * refresh token. Neither needs recent authentication: a user who suspects an intruder must be able to act immediately.
 */

import type { FastifyInstance } from "fastify";
import { browserName } from "../../../core/known-browsers/browser-name.ts";
import { endUserSession, listUserSessions, signOutEverywhere } from "../../../core/sessions/end-sessions.ts";
import { NotFound } from "../../../http/errors.ts";
import { parseQuery } from "../../../http/form-body.ts";
import type { RejectedForm } from "../../../page-kit/accept-form.ts";
import { ALREADY_APPLIED } from "../../../page-kit/console-frame.ts";
import { auditContext, redirectTo, show, type Visit } from "../../../page-kit/page.ts";
import { accountRoute, recordPath, requestedId } from "../account-form.ts";
import {
  type AccountDeps,
  type AccountVisit,
  accountFormFrame,
  accountFrame,
  accountPath,
} from "../account-page.ts";
import { confirmPage } from "../change.page.ts";
import { sessionsPage } from "./sessions.page.ts";

export function sessionsRoutes(app: FastifyInstance, deps: AccountDeps): void {
  accountRoute(app, deps, "/oauth/:org/account/sessions", { show: showSessions });
  accountRoute(app, deps, "/oauth/:org/account/sessions/end", {
    allowsGuests: true,
    returnTo: recordPath,
    show: askToConfirm,
    submit: endSessions,
  });
}

const sessionsPath = ({ organisation }: Visit): string => accountPath(organisation, "sessions");

const signOutPath = ({ organisation }: Visit): string => `/oauth/${organisation.id}/end_session`;

async function showSessions(deps: AccountDeps, visit: AccountVisit): Promise<void> {
  const { organisation, user, signedIn } = visit;
  const frame = accountFrame(visit, "sessions");
  const list = await listUserSessions(deps, organisation, user.id);
  const everywhereUri = `${sessionsPath(visit)}/end`;
  const page = sessionsPage({
    ...frame,
    isDone: parseQuery(visit.request).values.get("done") === "ended",
    sessions: list.map((session) => {
      const isCurrent = session.id === signedIn.session.id;
      return {
        name: browserName(session.userAgent),
        isCurrent,
        isBound: Boolean(session.boundKey),
        isOnDevice: Boolean(session.deviceId),
        signedInAt: session.createdAt,
        lastUsedAt: session.lastSeenAt,
        address: session.address,
        applications: session.applications,
        // Ending the current session is an ordinary sign-out.
        endUri: isCurrent ? signOutPath(visit) : `${everywhereUri}?id=${encodeURIComponent(session.id)}`,
      };
    }),
    everywhereUri,
  });
  return show(visit, frame, page);
}

async function askToConfirm(deps: AccountDeps, visit: AccountVisit, rejected?: RejectedForm): Promise<void> {
  const id = requestedId(visit);
  const list = await listUserSessions(deps, visit.organisation, visit.user.id);
  const session = list.find((one) => one.id === id);
  if (id !== undefined && !session) throw new NotFound("session");
  const frame = accountFormFrame(deps, visit, "sessions");
  const { sessions: text } = frame.messages;
  const page = confirmPage({
    ...frame,
    failure: rejected?.refusal.failure,
    ...(session
      ? {
          heading: text.endHeading({ browser: browserName(session.userAgent) ?? text.unknown }),
          text: text.endText,
          confirm: text.end,
          fields: [{ name: "id", value: session.id }],
        }
      : { heading: text.everywhereHeading, text: text.everywhereText, confirm: text.everywhere }),
  });
  return show(visit, frame, page, rejected?.refusal.status);
}

async function endSessions(deps: AccountDeps, visit: AccountVisit): Promise<void> {
  const sessionId = requestedId(visit);
  const target = { ...auditContext(visit, visit.signedIn), userId: visit.user.id };
  if (sessionId === undefined) {
    await signOutEverywhere(deps, target);
    return redirectTo(visit, signOutPath(visit));
  }
  const isDone = await endUserSession(deps, { ...target, sessionId });
  await redirectTo(visit, `${sessionsPath(visit)}?done=${isDone ? "ended" : ALREADY_APPLIED}`);
}
