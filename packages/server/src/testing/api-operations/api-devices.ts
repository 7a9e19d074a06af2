/** Devices and enrolment codes by API v1. */
import { registerDevice } from "../../features/device-identity/admin/register-device.ts";
import { enrolledDevice } from "../fixtures/enrolled-device.ts";
import type { ApiWorld } from "./api-operation.ts";
import { apiV1Cases, wrongBodies, wrongLists } from "./api-v1.ts";

const reads = ["signet:devices:read"] as const;
const writes = ["signet:devices:write"] as const;

const newDevice = async ({ service, a }: ApiWorld) =>
  `/devices/${(await enrolledDevice(service, a.organisation.id)).id}`;
const newCode = async ({ service, a }: ApiWorld) =>
  `/enrollment-codes/${(await registerDevice(service, { orgId: a.organisation.id, actor: "test" })).id}`;
const below = (of: typeof newDevice, end: string) => async (world: ApiWorld) => `${await of(world)}${end}`;

export const apiDeviceCases = apiV1Cases({
  "GET /devices": { scopes: reads, path: () => "/devices", status: 200, wrongQueries: wrongLists },
  "GET /devices/:id": { scopes: reads, path: newDevice, status: 200 },
  "POST /devices/:id/revoke": {
    ...{ scopes: writes, path: below(newDevice, "/revoke"), status: 200 },
    options: () => ({ body: { reason: "cessationOfOperation" } }),
    wrong: ["{", [], "x", { id: "x" }, { reason: "odd" }, { reason: 1 }],
  },
  "GET /devices/:id/certificates": {
    scopes: reads,
    path: below(newDevice, "/certificates"),
    status: 200,
    wrongQueries: wrongLists,
  },
  "GET /enrollment-codes": {
    scopes: reads,
    path: () => "/enrollment-codes",
    status: 200,
    wrongQueries: [...wrongLists, "filter=code%20pr", "filter=code_hash%20pr"],
  },
  "GET /enrollment-codes/:id": { scopes: reads, path: newCode, status: 200 },
  "POST /enrollment-codes": {
    ...{ scopes: writes, path: () => "/enrollment-codes", status: 201 },
    options: async ({ service, a }) => ({
      body: { name: "Till 4", replaces: (await enrolledDevice(service, a.organisation.id)).id },
    }),
    wrong: [
      ...[...wrongBodies, { name: "" }, { name: "x".repeat(101) }, { name: "a\nb" }, { code: "mine" }],
      ...[{ attestation: "perhaps" }, { expiresInSeconds: 599 }, { expiresInSeconds: 604_801 }],
      ...[{ expiresInSeconds: 700.5 }, { replaces: "x" }, { replaces: crypto.randomUUID() }],
    ],
  },
  "POST /enrollment-codes/:id/withdraw": {
    ...{ scopes: writes, path: below(newCode, "/withdraw"), status: 200, wrong: [{ unknown: 1 }] },
  },
});
