/** What a tab shows besides its settings, read from the database. */
import {
  type AssignedUser,
  listAssignedUsers,
} from "../../../core/application-access/application-access.store.ts";
import type { Application } from "../../../core/applications/application.ts";
import { type RecentSignIn, recentSignIns } from "../../../core/applications/application-use.store.ts";
import { kindOf } from "../../../core/applications/kinds.ts";
import type { RefusedRequest } from "../../../core/refused-requests/refused-request.ts";
import { listRefusedRequests } from "../../../core/refused-requests/refused-requests.store.ts";
import type { ConsoleDeps } from "../../../page-kit/page.ts";
import { consentedScopes } from "./admin-consent.ts";
import type { TabId } from "./record-tabs.ts";

export type TabContent = {
  readonly recent: readonly RecentSignIn[];
  readonly refused: readonly RefusedRequest[];
  readonly assigned: {
    readonly users: readonly AssignedUser[];
    readonly count: number;
    readonly isMore: boolean;
  };
  readonly consented: readonly string[];
};

const SIGN_INS_SHOWN = 10;
const USERS_SHOWN = 5;
/** Assigned users are counted up to here. */
const MAX_COUNTED = 100;

const nothing: TabContent = {
  recent: [],
  refused: [],
  assigned: { users: [], count: 0, isMore: false },
  consented: [],
};

export async function loadTabContent(
  deps: ConsoleDeps,
  tab: TabId,
  application: Application,
): Promise<TabContent> {
  const key = { orgId: application.orgId, applicationId: application.id };
  const db = deps.database.query;
  if (tab === "general") {
    // What this node has not written yet is the newest.
    await deps.refusedRequests.flush();
    const by = kindOf(application) === "legacy" ? "legacy" : "oauth";
    const recent = await recentSignIns(db, by, key, SIGN_INS_SHOWN);
    return { ...nothing, recent, refused: await listRefusedRequests(db, key) };
  }
  if (tab !== "access") return nothing;
  const users = await listAssignedUsers(db, key, { limit: MAX_COUNTED, after: undefined });
  const assigned = {
    users: users.slice(0, USERS_SHOWN),
    count: Math.min(users.length, MAX_COUNTED),
    isMore: users.length > MAX_COUNTED,
  };
  return { ...nothing, assigned, consented: await consentedScopes(deps, application) };
}
