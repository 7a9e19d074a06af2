/** The page of a role, by its tabs. */
import { activityCard } from "../../../page-kit/audit-events/activity-card.ts";
import { type TabbedRecord, tabRest } from "../../../page-kit/record-tabs.ts";
import { aboveRole, roleGeneral } from "./role.page.ts";
import { type RolesDeps, type RoleView, rolePages, type ShownRole } from "./role-pages.ts";

export const roleRecord: TabbedRecord<RolesDeps, ShownRole, RoleView> = {
  place: rolePages,
  load: (_, view) => view,
  above: aboveRole,
  tabs: [
    { name: "general", url: "/oauth/manage/:org/roles/:id", content: (_, view) => roleGeneral(view) },
    // A form: assignments.route.ts shows it.
    { name: "assignments", url: "/oauth/manage/:org/roles/:id/assignments" },
    {
      name: "activity",
      url: "/oauth/manage/:org/roles/:id/activity",
      content: (deps, { record: { id }, messages }, { organisation }) =>
        activityCard(deps, organisation, { kind: "role", id }, messages),
    },
  ],
};

export const ASSIGNMENTS = tabRest(roleRecord, "assignments");
