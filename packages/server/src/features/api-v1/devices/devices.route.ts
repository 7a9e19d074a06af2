/** /api/v1/organisations/{org}/devices: machines with a certificate of the organisation's own authority. */
import type { DeviceCertificate } from "../../../core/devices/device.ts";
import { findDevice, listCertificates, lockDevice } from "../../../core/devices/devices.store.ts";
import { revokeDevice } from "../../../core/devices/revoke-device.ts";
import { notFound } from "../../../http/api/api-error.ts";
import type { ApiScope } from "../../../http/api/api-route.ts";
import { idOf } from "../../../http/api/path-id.ts";
import { actOf } from "../access.ts";
import type { ApiDeps } from "../frame/api-deps.ts";
import { type ApiResource, actRoute, getRoute, listRoute } from "../frame/resource-routes.ts";
import { memoryPage } from "../lists/memory-list.ts";
import { deviceFields, findListedDevice, listDevicePage } from "./device-lists.store.ts";
import {
  certificateFields,
  certificateRecord,
  certificateSchema,
  deviceRecord,
  deviceSchema,
  type ListedDevice,
  revocation,
} from "./device-record.ts";

const shared = {
  tag: "API v1: devices",
  reads: ["signet:devices:read"],
  writes: ["signet:devices:write"],
} as const;

export function apiDevicesRoutes(api: ApiScope, deps: ApiDeps): void {
  const devices: ApiResource<ListedDevice> = {
    ...{ ...shared, api, deps, one: "device", many: "devices", schema: deviceSchema, record: deviceRecord },
    // An hour later it may be another state, without a change of the device.
    volatile: ["lastSeenAt", "state"],
  };
  listRoute(
    devices,
    "/api/v1/organisations/:org/devices",
    { operationId: "apiListDevices", summary: "List devices", fields: deviceFields(0) },
    ({ orgId, list }) => listDevicePage(deps.database.query, orgId, list, deps.clock()),
  );
  getRoute(
    devices,
    "/api/v1/organisations/:org/devices/:id",
    { operationId: "apiReadDevice", summary: "Get a device and its latest certificate" },
    ({ orgId, id }) => findListedDevice(deps.database.query, { orgId, id }, deps.clock()),
  );
  actRoute(
    devices,
    "/api/v1/organisations/:org/devices/:id/revoke",
    {
      operationId: "apiRevokeDevice",
      summary: "Revoke a device with its certificates and refresh tokens at once; irreversible",
      ...{ body: revocation, example: { reason: "keyCompromise" } },
    },
    async (inside, { caller, orgId, id, check, body: { reason = "unspecified" } }) => {
      const find = () => findListedDevice(inside.database.query, { orgId, id }, inside.clock());
      if (!(await lockDevice(inside.database.query, orgId, id))) return undefined;
      const before = await find();
      if (!before) return undefined;
      await check(before);
      await revokeDevice(inside, { ...actOf(caller), deviceId: id, reason });
      return find();
    },
  );
  certificatesRoute(api, deps);
}

type Listed = ReturnType<typeof certificateRecord>;

function certificatesRoute(api: ApiScope, deps: ApiDeps): void {
  const certificates: ApiResource<Listed> = {
    ...{ ...shared, api, deps, one: "certificate", many: "certificates" },
    ...{ schema: certificateSchema, record: (row) => row },
  };
  listRoute(
    certificates,
    "/api/v1/organisations/:org/devices/:id/certificates",
    {
      operationId: "apiListDeviceCertificates",
      summary: "List the certificates of a device",
      description: "Replaced ones until they have expired.",
      fields: certificateFields,
    },
    async ({ orgId, params, list }) => {
      const { query } = deps.database;
      const device = await findDevice(query, orgId, idOf(params));
      if (!device) throw notFound();
      const record = (one: DeviceCertificate) => certificateRecord(device, one, deps.clock());
      const all = (await listCertificates(query, orgId, device.id)).map(record);
      return memoryPage(list, all, { fields: certificateFields, record: (row) => row });
    },
  );
}
