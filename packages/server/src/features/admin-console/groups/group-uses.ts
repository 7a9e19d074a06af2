/** The tabs of a group that say what its members get: roles, and applications. */
import { selectNames } from "../../../core/audit/audit.store.ts";
import type { CountedGroup } from "../../../core/groups/groups.store.ts";
import { listAssignments } from "../../../core/roles/assignments.store.ts";
import { buttonLink } from "../../../html/components/button.ts";
import { card } from "../../../html/components/card.ts";
import { relativeTime } from "../../../html/components/relative-time.ts";
import { nameCell, rowLink, table } from "../../../html/components/table.ts";
import { type Content, html, linkAddress } from "../../../html/html.ts";
import { type ConsoleDeps, queryString } from "../../../page-kit/page.ts";
import type { RecordView } from "../../../page-kit/record-pages.ts";
import { listOpenedBy } from "./group-uses.store.ts";

/** More than anyone reads; a role's own page lists whom it is given to, page by page. */
const MAX_SHOWN = 200;

export async function groupRoles(deps: ConsoleDeps, view: RecordView<CountedGroup>): Promise<Content> {
  const { record: group, messages, consoleUri, uriOf } = view;
  const { roles: text } = messages.console.groups;
  const { assignments, give, why } = messages.console.roles;
  const db = deps.database.query;
  const found = await listAssignments(db, group.orgId, {
    ...{ of: { subjectType: "group", subjectId: group.id }, limit: MAX_SHOWN, isDescending: false },
  });
  const ids = [...new Set(found.flatMap(({ applicationId }) => applicationId ?? []))];
  const names = new Map(
    (await selectNames(db, group.orgId, "client", ids)).map(({ id, name }) => [id, name]),
  );
  const rows = found.map(({ id, roleId, roleKey, applicationId, createdAt }) => ({
    id: `assignment-${id}`,
    cells: [
      nameCell({ name: roleKey, uri: consoleUri(`/roles/${roleId}`) }),
      applicationId === null
        ? messages.console.roles.owners.organisation
        : html`<a href="${linkAddress(consoleUri(`/applications/${applicationId}/roles`))}"><bdi>${names.get(applicationId) ?? applicationId}</bdi></a>`,
      relativeTime(createdAt, messages.format.day),
    ],
    actions: rowLink({
      id: `assignment-remove-${id}`,
      uri: consoleUri(`/roles/${roleId}/assignments/${id}/remove`),
      text: assignments.remove,
      label: assignments.removeOf({ name: group.displayName }),
      isQuestion: true,
    }),
  }));
  return card({
    id: "group-roles",
    title: text.title,
    text: text.text,
    actions: html`<div class="row-actions">${[
      buttonLink({
        id: "group-why",
        uri: consoleUri(`/access-check${queryString({ subjectType: "group", subject: group.id })}`),
        label: why.open,
      }),
      buttonLink({ id: "group-roles-add", uri: uriOf("/roles/add"), label: give.open }),
    ]}</div>`,
    body: table({
      label: text.title,
      columns: [messages.console.roles.role, text.application, text.since],
      rows,
      none: text.none,
      messages,
    }),
  });
}

export async function groupApplications(
  deps: ConsoleDeps,
  { record: group, messages, consoleUri }: RecordView<CountedGroup>,
): Promise<Content> {
  const { access: text, roles } = messages.console.groups;
  const rows = (await listOpenedBy(deps.database.query, group, MAX_SHOWN)).map(
    ({ id, name, assignedAt }) => ({
      id: `application-${id}`,
      cells: [
        nameCell({ name, uri: consoleUri(`/applications/${id}/groups`) }),
        relativeTime(assignedAt, messages.format.day),
      ],
    }),
  );
  return card({
    id: "group-applications",
    title: text.applications,
    text: text.applicationsText,
    body: table({
      label: text.applications,
      columns: [roles.application, text.since],
      rows,
      none: text.noApplications,
      messages,
    }),
  });
}
