/** Records for every path of /openapi.json that names one, and credentials for those that want one. */
import assert from "node:assert/strict";
import { createUser } from "../../packages/server/src/core/users/users.ts";
import { testBrowser } from "../../packages/server/src/testing/fakes/browser.ts";
import { makeAgent, makePool } from "../../packages/server/src/testing/fixtures/agent.ts";
import { makeApiClient } from "../../packages/server/src/testing/fixtures/api-client.ts";
import { makeSessionKey } from "../../packages/server/src/testing/fixtures/session-key.ts";
import {
  callApi,
  makeSystemAccount,
  type TestAccount,
} from "../../packages/server/src/testing/fixtures/system-account.ts";
import { tokensOf } from "../../packages/server/src/testing/fixtures/visit.ts";
import {
  PASSWORD,
  type TestOrganisation,
  type TestService,
} from "../../packages/server/src/testing/test-service.ts";

const MANAGEMENT = "/legacy/api/oauth";

/** A method or `*`, the beginning of a path, and the values of its parameters: the first that fits counts. */
type PathValues = readonly [string, string, Readonly<Record<string, string>>];

export interface Records {
  readonly account: TestAccount;
  /** By the name of the security scheme. */
  readonly bearer: Readonly<Record<string, string>>;
  readonly paths: readonly PathValues[];
}

export async function makeRecords(running: TestService, org: TestOrganisation): Promise<Records> {
  const { service } = running;
  const account = await makeSystemAccount(service, org, { administrator: true });
  const maker = recordMaker(running, org, account);
  const pool = await makePool(service, org);
  const agent = await makeAgent(service, org, pool);
  const ending = await makeAgent(service, org, pool);
  const { accessToken } = await tokensOf(testBrowser(), org);
  const api = await makeApiClient(service, org, ["signet:users:write", "signet:organisation:write"]);
  const userId = await maker.user();
  const { id: orgId } = org.organisation;
  return {
    account,
    bearer: {
      accessToken,
      apiToken: api.accessToken,
      agentKey: agent.apiKey,
      sessionKey: await makeSessionKey(service, org),
    },
    paths: [
      ...(await managementPaths(maker, org.web.application.id)),
      ["*", "/api/v1/", { org: orgId, id: userId }],
      ["DELETE", "/oauth/{org}/sovereign/admin", { agentId: ending.agentId }],
      ["*", "/devices/manage/{org}/codes", { id: await maker.make(`/devices/manage/${orgId}/register`, {}) }],
      ...(await legacyPaths(maker, org)),
      ["*", "/", { org: orgId, poolId: pool.id, agentId: agent.agentId }],
    ],
  };
}

type Maker = ReturnType<typeof recordMaker>;

function recordMaker({ service, baseUrl }: TestService, { organisation }: TestOrganisation, by: TestAccount) {
  let count = 0;
  /** @returns a member of what was made */
  const make = async (path: string, body: unknown, member = "id"): Promise<string> => {
    const answer = await callApi(`${baseUrl}${path}`, by, { method: "POST", body, strictAt: Date.now() });
    assert.ok(answer.status < 300, `${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return String(answer.body[member]);
  };
  const user = () => {
    const person = { email: `person${++count}@acme.example`, firstname: "Grace", surname: "Okafor" };
    const state = { role: "Standard", emailVerified: true, password: PASSWORD, actor: "test" } as const;
    return createUser(service, { organisation, ...person, ...state });
  };
  const client = () =>
    make(`${MANAGEMENT}/clients`, { name: `Client ${++count}`, clientType: "confidential" }, "clientId");
  return { make, user, client };
}

/** Those that are deleted are others than those that are read and changed. */
async function managementPaths(
  { make, client, user }: Maker,
  applicationId: string,
): Promise<readonly PathValues[]> {
  let count = 0;
  const scope = () => make(`${MANAGEMENT}/scopes`, { name: `scope${++count}`, displayName: "A scope" });
  const resource = () => {
    const identifier = `https://resource${++count}.example`;
    return make(`${MANAGEMENT}/resources`, { identifier, name: "A resource" });
  };
  const account = () => make(`${MANAGEMENT}/system-accounts`, { name: `Account ${++count}`, applicationId });
  const consent = async () => {
    const body = { clientId: applicationId, scopes: ["openid"], userId: await user() };
    return make(`${MANAGEMENT}/consents/user`, body);
  };
  const preauthorization = async () =>
    make(`${MANAGEMENT}/preauthorizations`, { clientId: await client(), scopes: ["openid"] });
  const changed = { clientId: await client(), permId: await user() };
  const kept = { id: await account(), applicationId };
  return [
    ["DELETE", `${MANAGEMENT}/clients/{clientId}/users`, changed],
    ["DELETE", `${MANAGEMENT}/clients`, { clientId: await client() }],
    ["*", `${MANAGEMENT}/clients`, changed],
    ["DELETE", `${MANAGEMENT}/resources`, { id: await resource() }],
    ["*", `${MANAGEMENT}/resources`, { id: await resource() }],
    ["DELETE", `${MANAGEMENT}/scopes`, { id: await scope() }],
    ["*", `${MANAGEMENT}/scopes`, { id: await scope() }],
    ["DELETE", `${MANAGEMENT}/consents`, { id: await consent() }],
    ["*", `${MANAGEMENT}/consents`, { id: await consent() }],
    ["DELETE", `${MANAGEMENT}/preauthorizations`, { id: await preauthorization() }],
    ["*", `${MANAGEMENT}/preauthorizations`, { id: await preauthorization() }],
    ["DELETE", `${MANAGEMENT}/system-accounts/{id}/`, kept],
    ["DELETE", `${MANAGEMENT}/system-accounts`, { id: await account() }],
    ["*", `${MANAGEMENT}/system-accounts`, kept],
  ];
}

async function legacyPaths({ make }: Maker, org: TestOrganisation): Promise<readonly PathValues[]> {
  const login = { Email: org.user.email, Password: PASSWORD };
  const signIn = () => make("/legacy/api/Authentication/User/Login", login, "Key");
  const { id: publicId } = org.organisation;
  const of = { publicId, appId: org.web.application.id, userId: org.user.id };
  return [["*", "/legacy/api/", { ...of, key: await signIn() }]];
}
