/** The SDK's client of API v1 against the real service: the example of its README, every collection, and what is refused. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { after, before, test } from "node:test";
import { clientCredentials, configurationFromEnvironment } from "@signet/client-sdk";
import { type ApiClient, apiClient, apiErrorCode } from "@signet/client-sdk/api";
import type { ApiScope } from "../../packages/server/src/core/scopes/api-scopes.ts";
import { makePool, newAgentKey, presentedKey } from "../../packages/server/src/testing/fixtures/agent.ts";
import { enrolledDevice } from "../../packages/server/src/testing/fixtures/enrolled-device.ts";
import {
  makeClient,
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../packages/server/src/testing/test-service.ts";

let running: TestService;
let org: TestOrganisation;
let api: ApiClient;
before(async () => {
  running = await startTestService({ databaseUrl: "sqlite::memory:" });
  org = await makeOrganisation(running.service);
  const areas = ["users", "groups", "roles", "applications", "connections", "devices", "pools"] as const;
  const scopes = [...areas, "organisation" as const].map((area) => `signet:${area}:write` as const);
  api = apiClient(await newConfiguration(...scopes));
});
after(async () => {
  assert.deepEqual(running.errors, []);
  await running.close();
});

async function newConfiguration(...scopes: readonly ApiScope[]) {
  const grantTypes = ["client_credentials"] as const;
  const client = await makeClient(running.service, org.organisation, { grantTypes, allowedScopes: scopes });
  return {
    federationServer: running.baseUrl,
    oauthOrganisationId: org.organisation.id,
    applicationId: client.application.id,
    oauthClientSecret: client.secret,
    oauthScopes: scopes.join(" "),
  };
}
const refusedWith = (code: string) => (error: unknown) => {
  assert.equal(apiErrorCode(error), code, String(error));
  return true;
};

test("the example of the README runs as it stands there", async () => {
  const file = path.join(import.meta.dirname, "../../packages/client-sdk/README.md");
  const readme = await readFile(file, "utf8");
  const [example = ""] = [...readme.matchAll(/```ts\n([\s\S]*?)```/g)].flatMap(([, code = ""]) =>
    code.includes("apiClient(") ? [code] : [],
  );
  const { federationServer, oauthOrganisationId, applicationId, oauthClientSecret } = await newConfiguration(
    ...(["signet:users:write", "signet:groups:write"] as const),
  );
  const env = {
    SIGNET_FEDERATION_SERVER: federationServer,
    SIGNET_OAUTH_ORGANISATION_ID: oauthOrganisationId,
    SIGNET_APPLICATION_ID: applicationId,
    SIGNET_OAUTH_CLIENT_SECRET: oauthClientSecret,
  };
  const printed: unknown[] = [];
  const inScope = {
    ...{ configurationFromEnvironment, apiClient, apiErrorCode },
    ...{ process: { env }, console: { log: (text: unknown) => printed.push(text) } },
  };
  const body = example.replaceAll(/^import .*\n/gm, "");
  const AsyncFunction = (async () => {}).constructor as FunctionConstructor;
  await new AsyncFunction(...Object.keys(inScope), body)(...Object.values(inScope));
  assert.deepEqual(printed.toSorted(), ["ada@example.com", org.user.email].toSorted());
  const [ada] = await api.users.list({ filter: 'email eq "ada@example.com"' }).toArray();
  assert.deepEqual([ada?.firstname, ada?.attributes], ["Ada", { team: "ops" }]);
  const [group] = await api.groups.list({ filter: 'displayName eq "Operations"' }).toArray();
  assert.equal(group?.memberCount, 1);
});

test("every collection is listed, and a record of it read as it is in the list", async () => {
  const pool = await makePool(running.service, org);
  await enrolledDevice(running.service, org.organisation.id);
  const applicationId = org.web.application.id;
  const role = await api.roles.create({ applicationId, key: "editor", name: "Editor", permissions: [] });
  await api.assignments.create({ roleId: role.id, subjectType: "user", subjectId: org.user.id });
  await api.scopes.create({ name: "payroll" });
  await api.consents.create({ clientId: applicationId, scopes: ["openid"] });
  await api.preauthorizations.create({ clientId: applicationId, scopes: ["email"] });
  await api.systemAccounts.create({ name: "Import", applicationId });
  await api.connections.create({ kind: "scim", name: "Directory" });
  await api.domains.create({ domain: "acme.example" });
  await api.enrollmentCodes.create({ name: "Till" });
  const { link } = await api.invitations.create({ email: "guest@acme.example", sendEmail: false });
  assert.match(String(link), /\/invite\//);
  const keys = [presentedKey(running.service, pool, newAgentKey("ES256"))];
  await api.agents.create({ poolId: pool.id, name: "agent-1", keys });
  const names = [
    ...(["users", "groups", "roles", "assignments", "applications", "scopes", "consents"] as const),
    ...(["preauthorizations", "systemAccounts", "connections", "domains", "devices"] as const),
    ...(["enrollmentCodes", "pools", "agents", "invitations"] as const),
  ] as const;
  for (const name of names) {
    const [listed] = await api[name].list().toArray();
    assert.ok(listed, name);
    const { etag, ...read } = await api[name].get(listed.id);
    assert.deepEqual(read, listed, name);
    assert.match(etag, /^"[\w-]{22}"$/, name);
  }
});

test("a record is made once, changed by who is first, acted on and deleted", async () => {
  const options = { idempotencyKey: crypto.randomUUID() };
  const made = await api.applications.create({ name: "Shop", clientType: "confidential" }, options);
  assert.match(made.clientSecret ?? "", /^sgn_cs_/);
  const again = await api.applications.create({ name: "Shop", clientType: "confidential" }, options);
  assert.deepEqual([again.id, again.clientSecret], [made.id, null]);
  await assert.rejects(
    api.applications.create({ name: "Other", clientType: "confidential" }, options),
    refusedWith("key-reused"),
  );
  const read = await api.applications.get(made.id);
  const changed = await api.applications.change(read.id, { name: "Store" }, { etag: read.etag });
  assert.equal(changed.name, "Store");
  await assert.rejects(
    api.applications.change(read.id, { name: "Late" }, { etag: read.etag }),
    refusedWith("stale"),
  );
  const both = await Promise.all(
    ["https://a.example/callback", "https://b.example/callback"].map((uri) =>
      api.applications.update(made.id, ({ redirectUris }) => ({ redirectUris: [...redirectUris, uri] })),
    ),
  );
  assert.deepEqual(Math.max(...both.map(({ redirectUris }) => redirectUris.length)), 2);
  const secret = await api.applications.act(made.id, "secrets", { label: "autumn" });
  assert.match(secret.clientSecret ?? "", /^sgn_cs_/);
  await assert.rejects(api.applications.delete(made.id, { etag: read.etag }), refusedWith("stale"));
  await api.applications.delete(made.id);
  await assert.rejects(api.applications.get(made.id), refusedWith("not-found"));
  const user = await api.users.create({ email: "grace@example.com" });
  assert.equal((await api.users.act(user.id, "disable")).state, "disabled");
  const sessions = "GET /api/v1/organisations/{org}/users/{id}/sessions";
  assert.deepEqual(await api.list(sessions, { path: { id: user.id } }).toArray(), []);
});

test("lists are walked by pages in the order that was asked for", async () => {
  for (const name of ["b", "a", "c"]) await api.groups.create({ displayName: `Walk ${name}` });
  const list = api.groups.list(
    { filter: 'displayName sw "walk"', sort: "-displayName", total: "true" },
    { pageSize: 2 },
  );
  const names: string[] = [];
  for await (const { displayName } of list) names.push(displayName);
  assert.deepEqual(names, ["Walk c", "Walk b", "Walk a"]);
  const page = await list.page();
  assert.deepEqual([page.items.length, page.total], [2, 3]);
});

test("refusals have their code, and name what is wrong", async () => {
  const configuration = await newConfiguration("signet:users:read");
  const reader = apiClient(configuration);
  const email = "x@example.com";
  await assert.rejects(reader.users.create({ email }), refusedWith("insufficient-scope"));
  await assert.rejects(api.users.create({ email: "x" }), (error: unknown) => {
    refusedWith("invalid")(error);
    const { problem } = error as { problem?: { errors: readonly { path: string }[] } };
    return problem?.errors[0]?.path === "/email";
  });
  const given = await clientCredentials(configuration, { resource: `${running.baseUrl}/api/v1` }).token();
  const { federationServer, oauthOrganisationId } = configuration;
  const byToken = (tokens: string) => apiClient({ federationServer, oauthOrganisationId }, { tokens });
  assert.ok((await byToken(given).users.list().toArray()).length > 0);
  await assert.rejects(byToken(`${given}x`).users.list().toArray(), refusedWith("not-authenticated"));
});
