/** account/activity: what the audit log has about the user, of whatever they did and whatever was done to the account. */

import type { FastifyInstance } from "fastify";
import type { AuditAction } from "../../../core/audit/actions.ts";
import { findActorNames } from "../../../core/audit/actor-names.ts";
import type { KeptEvent } from "../../../core/audit/audit.store.ts";
import { listUserActivity } from "../../../core/audit/search/search.ts";
import { browserName } from "../../../core/known-browsers/browser-name.ts";
import type { SignedIn } from "../../../core/sessions/session.ts";
import { findSessionBrowsers } from "../../../core/sessions/sessions.store.ts";
import type { User } from "../../../core/users/user.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { queryOf } from "../../../http/form-body.ts";
import { show, type Visit } from "../../../page-kit/page.ts";
import {
  type AccountDeps,
  accountFrame,
  accountPath,
  accountRoute,
  isAtHome,
  requireSignedIn,
} from "../account-page.ts";
import { notMePath } from "../security/password.route.ts";
import { isOwnAct, whoActed } from "../who-acted.ts";
import { activityPage } from "./activity.page.ts";

const ACTIVITY = "activity";
const ON_A_PAGE = 25;

export function activityRoute(app: FastifyInstance, deps: AccountDeps): void {
  accountRoute(app, deps, "/oauth/:org/account/activity", {
    get: async (visit) => {
      const signedIn = await requireSignedIn(deps, visit, accountPath(visit.organisation, ACTIVITY));
      await showActivity(deps, visit, signedIn);
    },
  });
}

async function showActivity(deps: AccountDeps, visit: Visit, { user }: SignedIn): Promise<void> {
  const { organisation } = visit;
  const frame = accountFrame(visit, user, "activity");
  const before = queryOf(visit.request).values.get("before");
  const db = deps.database.query;
  const { events, next } = await listUserActivity(db, organisation.id, user.id, { before, limit: ON_A_PAGE });
  const targets = events.flatMap(({ target }) => (target === undefined ? [] : [target]));
  const of = { orgId: organisation.id, userId: user.id, ids: targets };
  const browsers = await findSessionBrowsers(db, of);
  const applications = await findActorNames(
    db,
    organisation.id,
    targets.map((target) => `client:${target}`),
  );
  const path = accountPath(organisation, ACTIVITY);
  const page = activityPage({
    ...frame,
    events: events.map((event) => ({
      ...inWords(event, user, frame.messages),
      application: applications.get(`client:${event.target}`),
      browser: browserName(browsers.get(event.target ?? "") ?? ""),
    })),
    newestUri: before === undefined ? undefined : path,
    olderUri: next === undefined ? undefined : `${path}?before=${encodeURIComponent(next)}`,
    notMeUri: isAtHome(organisation, user) ? notMePath(visit) : accountPath(organisation, "sessions/end"),
  });
  return show(visit, frame, page);
}

/** Of what others did it is not told where they were, nor which administrator it was. */
function inWords({ at, action, actor, address }: KeptEvent, user: User, messages: Messages) {
  return {
    at,
    what: actionText(action, messages),
    by: whoActed(actor, user, messages),
    address: isOwnAct(actor, user) || actor === "anonymous" ? address : undefined,
  };
}

/** Of another version of this program there may be actions that this one has no words for. */
function actionText(action: string, messages: Messages): string {
  const texts: Readonly<Record<AuditAction, string>> = messages.console.auditLog.actions;
  return Object.hasOwn(texts, action) ? texts[action as AuditAction] : action;
}
