/** Portal links by API v1. */
import { createPortalLink } from "../../core/portal-links/portal-links.ts";
import type { ApiWorld } from "./api-operation.ts";
import { apiV1Cases, wrongBodies, wrongLists } from "./api-v1.ts";

const reads = ["signet:connections:read"] as const;
const writes = ["signet:connections:write"] as const;
const purposes = ["connections", "scim"] as const;

async function path({ service, a }: ApiWorld): Promise<string> {
  const wanted = { purposes, returnUrl: null, scopes: writes };
  const made = await createPortalLink(service, { orgId: a.organisation.id, actor: "test", wanted });
  return `/portal-links/${made.link.id}`;
}

export const apiPortalLinkCases = apiV1Cases({
  "GET /portal-links": { scopes: reads, path: () => "/portal-links", status: 200, wrongQueries: wrongLists },
  "GET /portal-links/:id": { scopes: reads, path, status: 200 },
  "POST /portal-links": {
    ...{ scopes: writes, path: () => "/portal-links", status: 201, options: () => ({ body: { purposes } }) },
    wrong: [
      ...[...wrongBodies, {}, { purposes: [] }, { purposes: ["users"] }, { purposes: "scim" }],
      ...[
        { purposes, returnUrl: "" },
        { purposes, returnUrl: "https://elsewhere.example/" },
        { purposes, returnUrl: "javascript:alert(1)" },
      ],
      { purposes, expiresAt: "2030-01-01T00:00:00Z" },
    ],
  },
  "DELETE /portal-links/:id": { scopes: writes, path, status: 204 },
});
