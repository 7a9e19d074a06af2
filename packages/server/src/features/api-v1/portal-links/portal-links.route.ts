/** /api/v1/organisations/{org}/portal-links: one-time links to the connection pages (connections.md §1). */
import { InvalidPortalLink, type PortalLink } from "../../../core/portal-links/portal-link.ts";
import { findPortalLink, listPortalLinks } from "../../../core/portal-links/portal-links.store.ts";
import { createPortalLink, deletePortalLink } from "../../../core/portal-links/portal-links.ts";
import { conflict, invalid } from "../../../http/api/api-error.ts";
import type { ApiScope } from "../../../http/api/api-route.ts";
import { actOf } from "../access.ts";
import type { ApiDeps } from "../frame/api-deps.ts";
import { type ApiResource, createRoute, deleteRoute, getRoute, listRoute } from "../frame/resource-routes.ts";
import { memoryPage } from "../lists/memory-list.ts";
import {
  newPortalLink,
  portalLinkFields,
  portalLinkRecord,
  portalLinkSchema,
  portalLinkWithUrl,
} from "./portal-link-record.ts";

export function apiPortalLinksRoutes(api: ApiScope, deps: ApiDeps): void {
  const record = (link: PortalLink) => portalLinkRecord(link, deps.clock());
  const links: ApiResource<PortalLink> = {
    ...{ api, deps, tag: "API v1: portal links", one: "portal link", many: "portal links" },
    reads: ["signet:connections:read"],
    writes: ["signet:connections:write"],
    ...{ schema: portalLinkSchema, record, toAnswer, volatile: ["state"] },
  };
  listRoute(
    links,
    "/api/v1/organisations/:org/portal-links",
    {
      ...{ operationId: "apiListPortalLinks", summary: "List the portal links", fields: portalLinkFields },
      description: "Those that are over stay for 7 days.",
    },
    async ({ orgId, list }) =>
      memoryPage(list, await listPortalLinks(deps.database.query, orgId), {
        ...{ fields: portalLinkFields, record },
      }),
  );
  getRoute(
    links,
    "/api/v1/organisations/:org/portal-links/:id",
    { operationId: "apiReadPortalLink", summary: "Get a portal link" },
    ({ orgId, id }) => findPortalLink(deps.database.query, { orgId, id }),
  );
  createLinkRoute(links);
  deleteRoute(
    links,
    "/api/v1/organisations/:org/portal-links/:id",
    { operationId: "apiDeletePortalLink", summary: "Delete a portal link: what it opened ends too" },
    (inside, { caller, id, check }) => deletePortalLink(inside, { ...actOf(caller), id, check }),
  );
}

const createLinkRoute = (links: ApiResource<PortalLink>): void =>
  createRoute(
    links,
    "/api/v1/organisations/:org/portal-links",
    {
      ...{ operationId: "apiCreatePortalLink", summary: "Create a portal link", body: newPortalLink },
      ...{ created: portalLinkWithUrl, errors: [409], example: { purposes: ["connections", "domains"] } },
      description:
        "Opens the connection pages of the organisation to its holder, who needs no account: once, within an hour, and for an hour. Its pages do no more than the caller may: see the scopes that `linking` and `mapping.groups` of a connection need.",
    },
    async (inside, { caller, body: { purposes, returnUrl = null } }) => {
      const wanted = { purposes, returnUrl, scopes: caller.scopes };
      const { link, token } = await createPortalLink(inside, { ...actOf(caller), wanted });
      const members = { url: `${inside.baseUrl}/portal/${token}` };
      return { row: link, members, shownOnce: ["url"] };
    },
  );

function toAnswer(error: unknown): never {
  if (!(error instanceof InvalidPortalLink)) throw error;
  const { code, message } = error;
  if (code === "too-many-links")
    throw conflict(`${message.charAt(0).toUpperCase()}${message.slice(1)}: delete one first.`);
  throw invalid([{ path: "/returnUrl", message }]);
}
