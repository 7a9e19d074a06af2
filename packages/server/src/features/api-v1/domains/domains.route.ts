/** /api/v1/organisations/{org}/domains: what the organisation has proven to be its own, and where its people sign in. */
import { listConnections } from "../../../core/connections/connections.store.ts";
import { isSignInConnection } from "../../../core/connections/sign-in/sign-in-connections.ts";
import { type Domain, InvalidDomain } from "../../../core/domains/domain.ts";
import { lookUpProof, storeProof } from "../../../core/domains/domain-proof.ts";
import { findDomain, listDomains } from "../../../core/domains/domains.store.ts";
import { changeDomain, createDomain, deleteDomain } from "../../../core/domains/domains.ts";
import type { LookUpTxt } from "../../../core/domains/txt-records.ts";
import { conflict, invalid } from "../../../http/api/api-error.ts";
import type { ApiScope } from "../../../http/api/api-route.ts";
import { idOf } from "../../../http/api/path-id.ts";
import { type ApiCaller, actOf } from "../access.ts";
import { requireMayRoute } from "../connections/asked-connection.ts";
import type { ApiDeps } from "../frame/api-deps.ts";
import {
  type ApiResource,
  actRoute,
  createRoute,
  deleteRoute,
  getRoute,
  listRoute,
  patchRoute,
} from "../frame/resource-routes.ts";
import { memoryPage } from "../lists/memory-list.ts";
import { domainFields, domainPatch, domainRecord, domainSchema, newDomain } from "./domain-record.ts";

export interface DomainDeps extends ApiDeps {
  readonly lookUpTxt: LookUpTxt;
}

/** @throws ApiError 403. What is no such connection is told by the change itself */
async function requireRoute(
  { database: { query } }: ApiDeps,
  caller: ApiCaller,
  connectionId: string | null,
): Promise<void> {
  if (connectionId === null) return;
  const all = await listConnections(query, caller.organisation.id);
  const connection = all.find(({ id }) => id === connectionId);
  if (!connection || !isSignInConnection(connection)) return;
  requireMayRoute(caller, connection, { hasDirectory: all.some(({ kind }) => kind === "scim") });
}

export function apiDomainsRoutes(api: ApiScope, deps: DomainDeps): void {
  const domains: ApiResource<Domain, DomainDeps> = {
    ...{ api, deps, tag: "API v1: domains", one: "domain", many: "domains" },
    reads: ["signet:connections:read"],
    writes: ["signet:connections:write"],
    ...{ schema: domainSchema, record: domainRecord, toAnswer },
  };
  listRoute(
    domains,
    "/api/v1/organisations/:org/domains",
    { operationId: "apiListDomains", summary: "List the domains", fields: domainFields },
    async ({ orgId, list }) =>
      memoryPage(list, await listDomains(deps.database.query, orgId), {
        ...{ fields: domainFields, record: domainRecord },
      }),
  );
  getRoute(
    domains,
    "/api/v1/organisations/:org/domains/:id",
    { operationId: "apiReadDomain", summary: "Get a domain" },
    ({ orgId, id }) => findDomain(deps.database.query, { orgId, id }),
  );
  createRoute(
    domains,
    "/api/v1/organisations/:org/domains",
    {
      ...{ operationId: "apiCreateDomain", summary: "Add a domain", body: newDomain, errors: [409] },
      description: "The answer's `record` is what its owner publishes; then `verify` it.",
      example: { domain: "acme.example" },
    },
    async (inside, { caller, body }) => {
      const { domain, connectionId = null, enforced = false } = body;
      const route = { connectionId: connectionId?.toLowerCase() ?? null, enforced };
      await requireRoute(inside, caller, route.connectionId);
      return { row: await createDomain(inside, { ...actOf(caller), domain, route }) };
    },
  );
  changeRoutes(domains);
}

function changeRoutes(domains: ApiResource<Domain, DomainDeps>): void {
  patchRoute(
    domains,
    "/api/v1/organisations/:org/domains/:id",
    {
      ...{ operationId: "apiChangeDomain", summary: "Route or enforce a domain", body: domainPatch },
      description:
        "`enforced` needs a proven domain, an enabled connection that signs people in, and a break-glass administrator. Routing to a connection needs the scopes that changing its `linking` does.",
      example: { enforced: false },
    },
    async (inside, { caller, id, check, patch: { connectionId, enforced } }) => {
      const change = {
        ...(connectionId !== undefined && { connectionId: connectionId?.toLowerCase() ?? null }),
        ...(enforced !== undefined && { enforced: enforced ?? false }),
      };
      await requireRoute(inside, caller, change.connectionId ?? null);
      return changeDomain(inside, { ...actOf(caller), id, check, change });
    },
  );
  deleteRoute(
    domains,
    "/api/v1/organisations/:org/domains/:id",
    { operationId: "apiDeleteDomain", summary: "Delete a domain: its people sign in as all others" },
    (inside, { caller, id, check }) => deleteDomain(inside, { ...actOf(caller), id, check }),
  );
  actRoute(
    domains,
    "/api/v1/organisations/:org/domains/:id/verify",
    {
      ...{ operationId: "apiVerifyDomain", summary: "Look up the proof of a domain" },
      description: "`state` and `lastError` say what was found.",
      prepare: async ({ orgId, params }) => {
        const domain = await findDomain(domains.deps.database.query, { orgId, id: idOf(params) });
        return domain && lookUpProof(domains.deps, domain);
      },
    },
    async (inside, { caller, id, orgId, check, prepared: answer }) =>
      answer && storeProof(inside, { ...actOf(caller), orgId, id, answer, check }),
  );
}

const members = {
  ...{ "invalid-domain": "/domain", "unknown-connection": "/connectionId", "no-sign-in": "/connectionId" },
  ...{ "not-proven": "/enforced", "not-routed": "/enforced", "no-break-glass": "/enforced" },
} as const;

function toAnswer(error: unknown): never {
  if (!(error instanceof InvalidDomain)) throw error;
  const { code, message } = error;
  if (code === "domain-taken" || code === "too-many-domains")
    throw conflict(`${message.charAt(0).toUpperCase()}${message.slice(1)}.`);
  throw invalid([{ path: members[code], message }]);
}
