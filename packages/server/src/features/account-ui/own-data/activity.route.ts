/** account/activity: audit events by the user and about the account. */

import type { FastifyInstance } from "fastify";
import type { AuditAction } from "../../../core/audit/actions.ts";
import { findActorNames } from "../../../core/audit/actor-names.ts";
import type { StoredEvent } from "../../../core/audit/audit.store.ts";
import { listActivity } from "../../../core/audit/search/search.ts";
import { browserName } from "../../../core/known-browsers/browser-name.ts";
import { findSessionBrowsers } from "../../../core/sessions/sessions.store.ts";
import type { User } from "../../../core/users/user.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { parseQuery } from "../../../http/form-body.ts";
import { requestPath, show } from "../../../page-kit/page.ts";
import { accountRoute } from "../account-form.ts";
import {
  type AccountDeps,
  type AccountVisit,
  accountFrame,
  accountPath,
  isHomeUser,
} from "../account-page.ts";
import { actorText, isOwnAction } from "../actor-text.ts";
import { notMePath } from "../security/password.route.ts";
import { activityPage } from "./activity.page.ts";

const PAGE_SIZE = 25;

export function activityRoute(app: FastifyInstance, deps: AccountDeps): void {
  accountRoute(app, deps, "/oauth/:org/account/activity", {
    show: showActivity,
  });
}

async function showActivity(deps: AccountDeps, visit: AccountVisit): Promise<void> {
  const { organisation, user } = visit;
  const frame = accountFrame(visit, "activity");
  const before = parseQuery(visit.request).values.get("before");
  const db = deps.database.query;
  const { events, next } = await listActivity(
    db,
    organisation.id,
    { kind: "user", id: user.id },
    { before, limit: PAGE_SIZE },
  );
  const targets = events.flatMap(({ target }) => (target === undefined ? [] : [target]));
  const sessionIds = { orgId: organisation.id, userId: user.id, ids: targets };
  const browsers = await findSessionBrowsers(db, sessionIds);
  const applications = await findActorNames(
    db,
    organisation.id,
    targets.map((target) => `client:${target}`),
  );
  const path = requestPath(visit);
  const page = activityPage({
    ...frame,
    events: events.map((event) => ({
      ...toDisplay(event, user, frame.messages),
      application: applications.get(`client:${event.target}`),
      browser: browserName(browsers.get(event.target ?? "") ?? ""),
    })),
    newestUri: before === undefined ? undefined : path,
    olderUri: next === undefined ? undefined : `${path}?before=${encodeURIComponent(next)}`,
    notMeUri: isHomeUser(visit) ? notMePath(visit) : accountPath(organisation, "sessions/end"),
  });
  return show(visit, frame, page);
}

/** Hides other users' IP addresses and which administrator acted. */
function toDisplay({ at, action, actor, address }: StoredEvent, user: User, messages: Messages) {
  return {
    at,
    what: actionText(action, messages),
    by: actorText(actor, user, messages),
    address: isOwnAction(actor, user) || actor === "anonymous" ? address : undefined,
  };
}

/** Another version of the service may have written actions without a text here. */
function actionText(action: string, messages: Messages): string {
  const texts: Readonly<Record<AuditAction, string>> = messages.console.auditLog.actions;
  return Object.hasOwn(texts, action) ? texts[action as AuditAction] : action;
}
