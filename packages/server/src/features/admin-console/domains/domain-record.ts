/** The page of a domain, by its tabs. */
import type { Domain } from "../../../core/domains/domain.ts";
import { activityCard } from "../../../page-kit/audit-events/activity-card.ts";
import type { TabbedRecord } from "../../../page-kit/record-tabs.ts";
import { aboveDomain, domainGeneral } from "./domain.page.ts";
import { type DomainsDeps, type DomainView, domainPages, providersOf } from "./domain-pages.ts";

export const domainRecord: TabbedRecord<DomainsDeps, Domain, DomainView> = {
  place: domainPages,
  load: async (deps, view) => {
    const { orgId, connectionId } = view.record;
    const providers = await providersOf(deps, orgId);
    return { ...view, connection: providers.find(({ id }) => id === connectionId) };
  },
  above: aboveDomain,
  tabs: [
    { name: "general", url: "/oauth/manage/:org/domains/:id", content: (_, view) => domainGeneral(view) },
    {
      name: "activity",
      url: "/oauth/manage/:org/domains/:id/activity",
      content: (deps, { record: { id }, messages }, { organisation }) =>
        activityCard(deps, organisation, { kind: "domain", id }, messages),
    },
    // A form: settings.route.ts shows it.
    { name: "settings", url: "/oauth/manage/:org/domains/:id/settings" },
  ],
};
