/** A user's page: its tabs, and where what is done in them returns to. */
import type { User } from "../../../core/users/user.ts";
import { activityCard } from "../../../page-kit/audit-events/activity-card.ts";
import { type TabbedRecord, tabRest } from "../../../page-kit/record-tabs.ts";
import { aboveUser, userAdvanced, userOverview } from "./user.page.ts";
import { accessCards, sessionsCard } from "./user-access.page.ts";
import { factorsCard } from "./user-factors.page.ts";
import { memberPages, type UsersDeps } from "./user-pages.ts";
import { loadAccess, loadProfile, loadSessions, loadUserView, type UserView } from "./user-view.ts";

export const userRecord: TabbedRecord<UsersDeps, User, UserView> = {
  place: memberPages,
  load: loadUserView,
  above: aboveUser,
  tabs: [
    {
      name: "overview",
      url: "/oauth/manage/:org/users/:id",
      content: async (deps, view) => userOverview({ ...view, ...(await loadProfile(deps, view)) }),
    },
    {
      name: "security",
      url: "/oauth/manage/:org/users/:id/security",
      content: async (...request) => {
        const [, view] = request;
        return [factorsCard(view), sessionsCard({ ...view, sessions: await loadSessions(...request) })];
      },
    },
    {
      name: "access",
      url: "/oauth/manage/:org/users/:id/access",
      content: async (deps, view) => accessCards({ ...view, ...(await loadAccess(deps, view)) }),
    },
    {
      name: "activity",
      url: "/oauth/manage/:org/users/:id/activity",
      content: (deps, { record: { id }, messages }, { organisation }) =>
        activityCard(deps, organisation, { kind: "user", id }, messages),
    },
    {
      name: "advanced",
      url: "/oauth/manage/:org/users/:id/advanced",
      content: (_, view) => userAdvanced(view),
    },
  ],
};

export const SECURITY = tabRest(userRecord, "security");
export const ACCESS = tabRest(userRecord, "access");
export const ADVANCED = tabRest(userRecord, "advanced");
