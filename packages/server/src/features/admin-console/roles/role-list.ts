/** The roles of an application, on its tab: by their keys, a page at a time. */
import type { Role } from "../../../core/roles/role.ts";
import { findRole, listRoles } from "../../../core/roles/roles.store.ts";
import { buttonLink } from "../../../html/components/button.ts";
import { card } from "../../../html/components/card.ts";
import type { ConsoleFrame } from "../../../html/components/console-layout.ts";
import { pagination } from "../../../html/components/pagination.ts";
import { relativeTime } from "../../../html/components/relative-time.ts";
import { nameCell, table } from "../../../html/components/table.ts";
import { type Content, html } from "../../../html/html.ts";
import { parseQuery } from "../../../http/form-body.ts";
import { pageUris, ROWS_PER_PAGE, readCursor, splitPage } from "../../../page-kit/list-page.ts";
import { queryString, type Visit } from "../../../page-kit/page.ts";
import type { RolesDeps } from "./role-pages.ts";

export async function rolesOf(
  { database: { query: db } }: RolesDeps,
  { messages, consoleUri }: ConsoleFrame,
  { organisation: { id: orgId }, request }: Visit,
  applicationId: string,
): Promise<Content> {
  const { roles: text } = messages.console;
  const id = readCursor(parseQuery(request).values.get("after"));
  const last = id === undefined ? undefined : await findRole(db, { orgId, id });
  const rows = await listRoles(db, orgId, {
    ...{ applicationId, sort: "key", limit: ROWS_PER_PAGE + 1, isDescending: false },
    ...(last && { after: { value: last.key, id: last.id } }),
  });
  const page = splitPage(rows);
  const rest = `/applications/${applicationId}/roles`;
  const uri = (after?: string) => consoleUri(`${rest}${queryString({ after })}`);
  const row = (role: Role) => ({
    id: `role-${role.id}`,
    cells: [
      nameCell({
        name: role.name,
        uri: consoleUri(`/roles/${role.id}`),
        note: html`<code>${role.key}</code>`,
      }),
      text.permissionCount({ count: role.permissions.length }),
      relativeTime(role.createdAt, messages.format.day),
    ],
  });
  return card({
    id: "roles",
    title: text.title,
    text: text.text,
    actions: html`<div class="row-actions">${[
      buttonLink({
        id: "roles-why",
        uri: consoleUri(`/access-check${queryString({ application: applicationId })}`),
        label: text.why.open,
      }),
      buttonLink({ id: "role-new", uri: consoleUri(`${rest}/new`), label: text.make, kind: "primary" }),
    ]}</div>`,
    body: [
      table({
        label: text.title,
        columns: [text.role, text.permissions, text.created],
        rows: page.shown.map(row),
        none: text.none,
        messages,
      }),
      pagination({ ...pageUris(uri, last?.id, page.last?.id), messages }),
    ],
  });
}
