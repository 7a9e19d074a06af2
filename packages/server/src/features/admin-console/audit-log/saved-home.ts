/** The audit log's searches as saved filters. */
import { html } from "../../../html/html.ts";
import { actionText } from "../../../page-kit/audit-events/display-events.ts";
import type { FilterHome } from "../../../page-kit/list/saved-filters.ts";
import { consolePath, queryString } from "../../../page-kit/page.ts";
import { readFilterInput } from "./filter.ts";

export const auditLogFilters: FilterHome = {
  current: "auditLog",
  uri: (organisation, rest = "") => consolePath(organisation, `/audit-log${rest}`),
  query: (values) => {
    const { search, category, event, from, to, zone } = readFilterInput(values);
    return queryString({ search, category, event, from, to, zone }).slice(1);
  },
  facts: (values, messages) => {
    const { search, category, event, from, to, zone } = readFilterInput(values);
    const { filter: text, groups } = messages.console.auditLog;
    return [
      { label: text.search, content: search !== "" && html`<bdi>${search}</bdi>` },
      { label: text.category, content: category !== "" && groups[category] },
      { label: text.event, content: event !== "" && actionText(event, messages) },
      { label: text.from, content: from !== "" && `${from} (${zone || "UTC"})` },
      { label: text.to, content: to !== "" && `${to} (${zone || "UTC"})` },
    ];
  },
};
