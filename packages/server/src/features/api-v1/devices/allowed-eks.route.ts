/** /api/v1/organisations/{org}/allowed-eks: single TPMs that an organisation trusts, by their endorsement keys. */
import { lockOrganisation } from "../../../core/organisations/organisations.store.ts";
import { notFound } from "../../../http/api/api-error.ts";
import type { ApiScope } from "../../../http/api/api-route.ts";
import { actOf } from "../access.ts";
import { type ApiResource, createRoute, deleteRoute, getRoute, listRoute } from "../frame/resource-routes.ts";
import { ekRecord, ekSchema, newEk, type TrustDeps, toTrustAnswer } from "./device-trust.ts";
import { type AllowedEk, ekFields, findAllowedEk, listEkPage } from "./trust-lists.store.ts";

export function apiAllowedEksRoutes(api: ApiScope, deps: TrustDeps): void {
  const eks: ApiResource<AllowedEk, TrustDeps> = {
    ...{
      api,
      deps,
      tag: "API v1: devices",
      one: "allowed endorsement key",
      many: "allowed endorsement keys",
    },
    reads: ["signet:devices:read"],
    writes: ["signet:devices:write"],
    ...{ schema: ekSchema, record: ekRecord, idParameter: "fingerprint" },
    toAnswer: toTrustAnswer(deps, "/key"),
  };
  listRoute(
    eks,
    "/api/v1/organisations/:org/allowed-eks",
    { operationId: "apiListAllowedEks", summary: "List allowed endorsement keys", fields: ekFields },
    ({ orgId, list }) => listEkPage(deps.database.query, orgId, list),
  );
  getRoute(
    eks,
    "/api/v1/organisations/:org/allowed-eks/:fingerprint",
    { operationId: "apiReadAllowedEk", summary: "Get an allowed endorsement key" },
    ({ orgId, id }) => findAllowedEk(deps.database.query, orgId, id),
  );
  changeRoutes(eks);
}

function changeRoutes(eks: ApiResource<AllowedEk, TrustDeps>): void {
  createRoute(
    eks,
    "/api/v1/organisations/:org/allowed-eks",
    {
      operationId: "apiAllowEk",
      summary: "Allow a TPM by its endorsement key",
      ...{
        body: newEk,
        known: "Allowed already",
        example: { key: "-----BEGIN PUBLIC KEY-----\n…", label: "Order 4711" },
      },
    },
    async (inside, { caller, orgId, body }) => {
      const { id, isKnown } = await inside.trust.addEk(inside, actOf(caller), {
        key: body.key,
        label: body.label ?? "",
      });
      const row = await findAllowedEk(inside.database.query, orgId, id);
      if (!row) throw notFound();
      return { row, isKnown };
    },
  );
  deleteRoute(
    eks,
    "/api/v1/organisations/:org/allowed-eks/:fingerprint",
    {
      operationId: "apiRemoveAllowedEk",
      summary: "Allow an endorsement key no longer; a device that is enrolled with it stays",
    },
    async (inside, { caller, orgId, id, check }) => {
      // Of two at once one removes it.
      await lockOrganisation(inside.database.query, orgId);
      const row = await findAllowedEk(inside.database.query, orgId, id);
      if (!row) return false;
      await check(row);
      return inside.trust.removeEk(inside, actOf(caller), id);
    },
  );
}
