/** System accounts by API v1. */
import { grantApplication } from "../../core/system-accounts/system-accounts.ts";
import { makeSystemAccount } from "../fixtures/system-account.ts";
import { newApplication } from "./api-applications.ts";
import type { ApiWorld } from "./api-operation.ts";
import { apiV1Cases, wrongBodies, wrongLists } from "./api-v1.ts";

const reads = ["signet:applications:read"] as const;
const writes = ["signet:applications:write"] as const;
const newAccount = ({ service, a }: ApiWorld) => makeSystemAccount(service, a);
const pathOf = async (world: ApiWorld) => `/system-accounts/${(await newAccount(world)).id}`;

export const apiSystemAccountCases = apiV1Cases({
  "GET /system-accounts": {
    scopes: reads,
    path: () => "/system-accounts",
    status: 200,
    wrongQueries: [...wrongLists, "search=x", "filter=keys%20pr"],
  },
  "GET /system-accounts/:id": { scopes: reads, path: pathOf, status: 200 },
  "POST /system-accounts": {
    ...{ scopes: writes, path: () => "/system-accounts", status: 201 },
    options: async (world) => ({ body: { name: "Made", applicationId: await newApplication(world) } }),
    wrong: [
      ...[...wrongBodies, {}, { name: "Made" }, { name: "Made", applicationId: "x" }],
      ...[{ name: "Made", applicationId: crypto.randomUUID() }],
    ],
  },
  "PATCH /system-accounts/:id": {
    ...{ scopes: writes, path: pathOf, options: () => ({ body: { name: "Renamed" } }), status: 200 },
    wrong: [
      ...[...wrongBodies, { name: null }, { name: " " }, { administrator: true }, { keys: [] }],
      ...[{ applicationId: crypto.randomUUID() }, { permissions: [] }, { enabled: "yes" }],
    ],
  },
  "DELETE /system-accounts/:id": { scopes: writes, path: pathOf, status: 204, wrong: [{}] },
  "POST /system-accounts/:id/keys": {
    ...{ scopes: writes, path: async (world) => `${await pathOf(world)}/keys`, status: 201 },
    options: () => ({ body: { label: "autumn" } }),
    wrong: [
      ...[...wrongBodies, { expiresAt: "2020-01-01T00:00:00Z" }, { expireOthersInSeconds: -1 }],
      ...[{ label: "\u0001" }, { secretKey: "mine" }],
    ],
  },
  "DELETE /system-accounts/:id/keys/:keyId": {
    ...{ scopes: writes, status: 204, wrong: [{}] },
    path: async (world) => {
      const { id, publicKey } = await newAccount(world);
      return `/system-accounts/${id}/keys/${publicKey}`;
    },
  },
  "PUT /system-accounts/:id/permissions/:applicationId": {
    ...{ scopes: writes, status: 204, wrong: [{}] },
    path: async (world) => `${await pathOf(world)}/permissions/${await newApplication(world)}`,
  },
  "DELETE /system-accounts/:id/permissions/:applicationId": {
    ...{ scopes: writes, status: 204, wrong: [{}] },
    path: async (world) => {
      const [{ id }, applicationId] = [await newAccount(world), await newApplication(world)];
      const { service, a } = world;
      await grantApplication(service, { orgId: a.organisation.id, id, applicationId, actor: "test" });
      return `/system-accounts/${id}/permissions/${applicationId}`;
    },
  },
});
