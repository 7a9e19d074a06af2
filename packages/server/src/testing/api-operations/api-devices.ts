/** Devices and enrolment codes by API v1. */
import { generateKeyPairSync } from "node:crypto";
import { registerDevice } from "../../features/device-identity/admin/register-device.ts";
import { deviceTrust } from "../../modules/device-trust.ts";
import { softVendor } from "../fakes/soft-tpm-device.ts";
import { enrolledDevice } from "../fixtures/enrolled-device.ts";
import type { ApiWorld } from "./api-operation.ts";
import { apiV1Cases, wrongBodies, wrongLists } from "./api-v1.ts";

const reads = ["signet:devices:read"] as const;
const writes = ["signet:devices:write"] as const;

const newDevice = async ({ service, a }: ApiWorld) =>
  `/devices/${(await enrolledDevice(service, a.organisation.id)).id}`;
const newCode = async ({ service, a }: ApiWorld) =>
  `/enrollment-codes/${(await registerDevice(service, { orgId: a.organisation.id, actor: "test" })).id}`;
const vendor = softVendor();
const pemOfKey = () =>
  generateKeyPairSync("ec", { namedCurve: "P-256" })
    .publicKey.export({ format: "pem", type: "spki" })
    .toString();
async function newRoot({ service, a }: ApiWorld): Promise<string> {
  const by = { orgId: a.organisation.id, actor: "test" };
  return `/device-roots/${(await deviceTrust.addRoot(service, by, softVendor("Some").root.pem)).id}`;
}
async function newEk({ service, a }: ApiWorld): Promise<string> {
  const by = { orgId: a.organisation.id, actor: "test" };
  return `/allowed-eks/${(await deviceTrust.addEk(service, by, { key: pemOfKey(), label: "x" })).id}`;
}
async function firstGeneration({ service, a }: ApiWorld): Promise<string> {
  const generations = await service.deviceCa.generations(a.organisation.id);
  return `/device-ca/${generations.at(-1)?.generation}`;
}
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
  "GET /device-ca": { scopes: reads, path: () => "/device-ca", status: 200, wrongQueries: wrongLists },
  "GET /device-ca/:generation": { scopes: reads, path: firstGeneration, status: 200 },
  "POST /device-ca": {
    ...{ scopes: writes, path: () => "/device-ca", status: 201, wrong: [...wrongBodies, { generation: 9 }] },
  },
  "GET /device-roots": { scopes: reads, path: () => "/device-roots", status: 200, wrongQueries: wrongLists },
  "GET /device-roots/:fingerprint": { scopes: reads, path: newRoot, status: 200 },
  "POST /device-roots": {
    ...{ scopes: writes, path: () => "/device-roots", status: 201 },
    options: () => ({ body: { certificate: softVendor("Happy").root.pem } }),
    wrong: [
      ...[
        ...wrongBodies,
        {},
        { certificate: "x" },
        { certificate: `${vendor.root.pem}${vendor.issuing.pem}` },
      ],
      { certificate: pemOfKey() },
    ],
  },
  "DELETE /device-roots/:fingerprint": { scopes: writes, path: newRoot, status: 204, wrong: [{}] },
  "GET /allowed-eks": { scopes: reads, path: () => "/allowed-eks", status: 200, wrongQueries: wrongLists },
  "GET /allowed-eks/:fingerprint": { scopes: reads, path: newEk, status: 200 },
  "POST /allowed-eks": {
    ...{ scopes: writes, path: () => "/allowed-eks", status: 201 },
    options: () => ({ body: { key: pemOfKey(), label: "Order 4711" } }),
    wrong: [
      ...[...wrongBodies, {}, { key: "x" }, { key: `${pemOfKey()}${pemOfKey()}` }],
      ...[{ key: vendor.root.pem }, { key: pemOfKey(), label: "x".repeat(201) }],
    ],
  },
  "DELETE /allowed-eks/:fingerprint": { scopes: writes, path: newEk, status: 204, wrong: [{}] },
  "POST /enrollment-codes/:id/withdraw": {
    ...{ scopes: writes, path: below(newCode, "/withdraw"), status: 200, wrong: [{ unknown: 1 }] },
  },
});
