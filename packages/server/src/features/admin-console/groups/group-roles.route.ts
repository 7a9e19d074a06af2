/** groups/{id}/roles/add: the roles that the group could get, of which ticked ones are assigned. */
import type { FastifyInstance } from "fastify";
import type { CountedGroup } from "../../../core/groups/groups.store.ts";
import type { SignedIn } from "../../../core/sessions/session.ts";
import { parseQuery } from "../../../http/form-body.ts";
import { bulkHandlers } from "../../../page-kit/list/bulk-acts.ts";
import {
  consoleRoute,
  queryString,
  requestPath,
  requireAdministrator,
  requireId,
  type Visit,
} from "../../../page-kit/page.ts";
import { type Receiver, showChoiceList } from "../choice-list.ts";
import { assignableRoles } from "../roles/assignable-roles.ts";
import type { RolesDeps } from "../roles/role-pages.ts";
import { groupPages } from "./group-pages.ts";

export function groupRolesRoutes(app: FastifyInstance, deps: RolesDeps): void {
  consoleRoute(app, deps, "/oauth/manage/:org/groups/:id/roles/add", { get: showRoles });
  consoleRoute(app, deps, "/oauth/manage/:org/groups/:id/roles/add/bulk", {
    get: (_, visit) =>
      withReceiver(deps, visit, (one) => bulkHandlers(assignableRoles(one)).get(deps, visit)),
    post: (_, visit) =>
      withReceiver(deps, visit, (one) => bulkHandlers(assignableRoles(one)).post(deps, visit)),
  });
}

const toReceiver = (group: CountedGroup): Receiver => ({
  ...{ subjectType: "group", subjectId: group.id, name: group.displayName },
  ...{ current: "groups", path: `/groups/${group.id}` },
  crumbs: (frame) => [
    ...groupPages.listCrumbs(frame),
    { label: group.displayName, uri: frame.consoleUri(`/groups/${group.id}/roles`) },
  ],
});

/** Who may not see the group is not told whether there is one. */
async function withReceiver(
  deps: RolesDeps,
  visit: Visit,
  handle: (receiver: Receiver, signedIn: SignedIn) => Promise<void>,
): Promise<void> {
  requireId(visit);
  const query = queryString(Object.fromEntries(parseQuery(visit.request).values));
  const signedIn = await requireAdministrator(deps, visit, `${requestPath(visit)}${query}`);
  await handle(toReceiver(await groupPages.require(deps, visit)), signedIn);
}

const showRoles = (deps: RolesDeps, visit: Visit): Promise<void> =>
  withReceiver(deps, visit, (receiver, signedIn) =>
    showChoiceList(deps, visit, assignableRoles(receiver), {
      ...{ signedIn, receiver, summary: ({ console }) => console.roles.give.summary },
    }),
  );
