/** /api/v1/organisations/{org}/device-roots: the authorities whose TPMs an organisation trusts. */
import { lockOrganisation } from "../../../core/organisations/organisations.store.ts";
import { notFound } from "../../../http/api/api-error.ts";
import type { ApiScope } from "../../../http/api/api-route.ts";
import { actOf } from "../access.ts";
import { type ApiResource, createRoute, deleteRoute, getRoute, listRoute } from "../frame/resource-routes.ts";
import { newRoot, rootRecord, rootSchema, type TrustDeps, toTrustAnswer } from "./device-trust.ts";
import { type DeviceRoot, findRoot, listRootPage, rootFields } from "./trust-lists.store.ts";

export function apiDeviceRootsRoutes(api: ApiScope, deps: TrustDeps): void {
  const roots: ApiResource<DeviceRoot, TrustDeps> = {
    ...{ api, deps, tag: "API v1: devices", one: "trusted TPM vendor", many: "trusted TPM vendors" },
    reads: ["signet:devices:read"],
    writes: ["signet:devices:write"],
    ...{ schema: rootSchema, record: rootRecord, idParameter: "fingerprint" },
    toAnswer: toTrustAnswer(deps, "/certificate"),
  };
  listRoute(
    roots,
    "/api/v1/organisations/:org/device-roots",
    { operationId: "apiListDeviceRoots", summary: "List trusted TPM vendors", fields: rootFields },
    ({ orgId, list }) => listRootPage(deps.database.query, orgId, list),
  );
  getRoute(
    roots,
    "/api/v1/organisations/:org/device-roots/:fingerprint",
    { operationId: "apiReadDeviceRoot", summary: "Get a trusted TPM vendor" },
    ({ orgId, id }) => findRoot(deps.database.query, orgId, id),
  );
  changeRoutes(roots);
}

function changeRoutes(roots: ApiResource<DeviceRoot, TrustDeps>): void {
  createRoute(
    roots,
    "/api/v1/organisations/:org/device-roots",
    {
      operationId: "apiAddDeviceRoot",
      summary: "Trust a TPM vendor by the certificate of its authority",
      ...{
        body: newRoot,
        known: "Trusted already",
        example: { certificate: "-----BEGIN CERTIFICATE-----\n…" },
      },
    },
    async (inside, { caller, orgId, body }) => {
      const { id, isKnown } = await inside.trust.addRoot(inside, actOf(caller), body.certificate);
      const row = await findRoot(inside.database.query, orgId, id);
      if (!row) throw notFound();
      return { row, isKnown };
    },
  );
  deleteRoute(
    roots,
    "/api/v1/organisations/:org/device-roots/:fingerprint",
    {
      operationId: "apiRemoveDeviceRoot",
      summary: "Trust a TPM vendor no longer; devices that are enrolled stay",
    },
    async (inside, { caller, orgId, id, check }) => {
      // Of two at once one removes it.
      await lockOrganisation(inside.database.query, orgId);
      const row = await findRoot(inside.database.query, orgId, id);
      if (!row) return false;
      await check(row);
      return inside.trust.removeRoot(inside, actOf(caller), id);
    },
  );
}
