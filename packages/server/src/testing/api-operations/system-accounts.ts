/** System accounts by the management API: the same five cases for each operation; changes in the strict form. */
import { randomUUID } from "node:crypto";
import { grantApplication } from "../../core/system-accounts/system-accounts.ts";
import { makeSystemAccount } from "../fixtures/system-account.ts";
import type { ApiCases, ApiWorld } from "./api-operation.ts";
import { caseOf, newClient, noBodyExpected, ownListOnly } from "./management.ts";

const BASE = "/legacy/api/oauth/system-accounts";
const LIST = "/system-accounts";
const newAccount = ({ service, a }: ApiWorld) => makeSystemAccount(service, a);
const pathOf = async (world: ApiWorld) => `${LIST}/${(await newAccount(world)).id}`;
const content = { name: "Made", requireStrictSignature: false, enabled: true };
const strictOnly = true;

export const systemAccountCases: ApiCases = {
  [`GET ${BASE}`]: caseOf("GET", {
    asked: async () => ({ path: `${LIST}?limit=200` }),
    status: 200,
    foreign: ownListOnly,
    wrong: [`${LIST}?limit=0`, `${LIST}?cursor=x`, `${LIST}?name=x`],
  }),
  [`GET ${BASE}/:id`]: caseOf("GET", {
    asked: async (world) => ({ path: await pathOf(world) }),
    status: 200,
    wrong: [],
  }),
  [`POST ${BASE}`]: caseOf("POST", {
    asked: async ({ a }) => ({ path: LIST, body: { name: "Made", applicationId: a.web.application.id } }),
    status: 201,
    wrong: [
      {},
      [],
      { name: "Made" },
      { name: "Made", applicationId: "x" },
      { name: "Made", applicationId: randomUUID(), permissions: [] },
    ],
    strictOnly,
  }),
  [`PUT ${BASE}/:id`]: caseOf("PUT", {
    asked: async (world) => ({ path: await pathOf(world), body: content }),
    status: 200,
    wrong: [
      {},
      { name: "Made" },
      { ...content, name: " " },
      { ...content, administrator: true },
      { ...content, applicationId: randomUUID() },
      { ...content, orgId: randomUUID() },
    ],
    strictOnly,
  }),
  [`DELETE ${BASE}/:id`]: caseOf("DELETE", {
    asked: async (world) => ({ path: await pathOf(world) }),
    status: 204,
    wrong: noBodyExpected,
    strictOnly,
  }),
  [`PUT ${BASE}/:id/permissions/:applicationId`]: caseOf("PUT", {
    asked: async (world) => ({ path: `${await pathOf(world)}/permissions/${await newClient(world)}` }),
    status: 204,
    wrong: noBodyExpected,
    strictOnly,
  }),
  [`DELETE ${BASE}/:id/permissions/:applicationId`]: caseOf("DELETE", {
    asked: async (world) => {
      const [{ id }, applicationId] = [await newAccount(world), await newClient(world)];
      const { service, a } = world;
      await grantApplication(service, { orgId: a.organisation.id, id, applicationId, actor: "test" });
      return { path: `${LIST}/${id}/permissions/${applicationId}` };
    },
    status: 204,
    wrong: noBodyExpected,
    strictOnly,
  }),
  [`POST ${BASE}/:id/keys`]: caseOf("POST", {
    asked: async (world) => ({ path: `${await pathOf(world)}/keys`, body: {} }),
    status: 201,
    wrong: [{ secretKey: "mine" }, { expiresAt: "tomorrow" }, { expireOthersInSeconds: -1 }, { label: 1 }],
    strictOnly,
  }),
  [`DELETE ${BASE}/:id/keys/:keyId`]: caseOf("DELETE", {
    asked: async (world) => {
      const { id, publicKey } = await newAccount(world);
      return { path: `${LIST}/${id}/keys/${publicKey}` };
    },
    status: 204,
    wrong: noBodyExpected,
    strictOnly,
  }),
};
