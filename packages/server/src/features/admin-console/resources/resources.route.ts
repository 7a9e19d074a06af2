/** The protected resources of an organisation, and the page of one. */
import type { FastifyInstance } from "fastify";
import { listResourcesWithScopes } from "../../../core/protected-resources/protected-resources.ts";
import { html } from "../../../html/html.ts";
import { listRoute } from "../../../page-kit/list/list-route.ts";
import type { ConsoleDeps } from "../../../page-kit/page.ts";
import { plainList } from "../plain-records/plain-list.ts";
import { plainRecordRoutes } from "../plain-records/plain-record-routes.ts";
import { claimNames, MAX_SHOWN } from "../scopes/scopes.page.ts";
import { resourceRecord } from "./resource-record.ts";

export function resourcesRoutes(app: FastifyInstance, deps: ConsoleDeps): void {
  listRoute(app, deps, "/oauth/manage/:org/resources", resourceList);
  plainRecordRoutes(app, deps, resourceRecord, {
    create: "/oauth/manage/:org/resources/new",
    general: "/oauth/manage/:org/resources/:id",
    settings: "/oauth/manage/:org/resources/:id/settings",
    activity: "/oauth/manage/:org/resources/:id/activity",
    delete: "/oauth/manage/:org/resources/:id/delete",
  });
}

const resourceList = plainList(resourceRecord, {
  load: ({ deps, organisation }) => listResourcesWithScopes(deps.database.query, organisation.id),
  words: ({ name, identifier, scopes }) => [name, identifier, ...scopes.map((scope) => scope.name)],
  note: ({ identifier }) => html`<code>${identifier}</code>`,
  columns: [
    {
      label: ({ console }) => console.resources.fields.scopes.label,
      cell: ({ scopes }, { messages: { console } }) =>
        claimNames(
          scopes.map(({ name }) => name),
          console.resources.noScopesShort,
          MAX_SHOWN,
        ),
    },
    {
      label: ({ console }) => console.resources.fields.senderConstraint.label,
      cell: ({ senderConstraint }, { messages: { console } }) =>
        console.resources.constraints[senderConstraint],
    },
  ],
});
