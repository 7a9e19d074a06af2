/** The page of a group, by its tabs. */
import type { CountedGroup } from "../../../core/groups/groups.store.ts";
import { activityCard } from "../../../page-kit/audit-events/activity-card.ts";
import type { ConsoleDeps } from "../../../page-kit/page.ts";
import type { TabbedRecord } from "../../../page-kit/record-tabs.ts";
import { aboveGroup, type GroupView, groupGeneral } from "./group.page.ts";
import { groupPages } from "./group-pages.ts";
import { groupApplications, groupRoles } from "./group-uses.ts";

export const groupRecord: TabbedRecord<ConsoleDeps, CountedGroup, GroupView> = {
  place: groupPages,
  load: (_, view) => view,
  above: aboveGroup,
  tabs: [
    { name: "general", url: "/oauth/manage/:org/groups/:id", content: (_, view) => groupGeneral(view) },
    // A form: members.route.ts shows it.
    { name: "members", url: "/oauth/manage/:org/groups/:id/members" },
    {
      name: "roles",
      url: "/oauth/manage/:org/groups/:id/roles",
      content: (deps, view) => groupRoles(deps, view),
    },
    {
      name: "access",
      url: "/oauth/manage/:org/groups/:id/access",
      content: (deps, view) => groupApplications(deps, view),
    },
    {
      name: "activity",
      url: "/oauth/manage/:org/groups/:id/activity",
      content: (deps, { record: { id }, messages }, { organisation }) =>
        activityCard(deps, organisation, { kind: "group", id }, messages),
    },
  ],
};
