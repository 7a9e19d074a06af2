/** A directory's word at one node holds at another within a second. The clock stands still: no cache ends by itself. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { assignRole } from "../../core/roles/assignments.ts";
import { createRole } from "../../core/roles/roles.ts";
import { postgresServer } from "../../testing/databases.ts";
import { eventually } from "../../testing/eventually.ts";
import { codeSource, redeemWith } from "../../testing/fakes/code-source.ts";
import { fakeClock } from "../../testing/fakes/fake-clock.ts";
import { credentials, postForm, refresh } from "../../testing/fixtures/client.ts";
import { callScim, newScimConnection, type ScimClient } from "../../testing/fixtures/scim-connection.ts";
import { withUser } from "../../testing/fixtures/visit.ts";
import { createDatabase, dropDatabase } from "../../testing/postgres.ts";
import { sendRaw } from "../../testing/probes/answers.ts";
import {
  makeClient,
  makeOrganisation,
  REDIRECT_URI,
  startTestServices,
  type TestClient,
  type TestOrganisation,
  type TestService,
} from "../../testing/test-service.ts";

describe("two nodes on one PostgreSQL", () => {
  let databaseUrl: string;
  let nodes: TestService[];
  let org: TestOrganisation;
  let scim: ScimClient;
  before(async () => {
    databaseUrl = await createDatabase(await postgresServer());
    nodes = await startTestServices({ databaseUrl, clock: fakeClock(), baseUrl: "http://127.0.0.1:1" }, 2);
    const [first] = nodes;
    assert.ok(first);
    org = at(0, await makeOrganisation(first.service));
    const made = await newScimConnection(first.service, org.organisation.id);
    const root = made.root.replace("http://127.0.0.1:1", first.baseUrl);
    scim = {
      ...made,
      root,
      call: (method, path, body) => callScim(method, `${root}${path}`, { token: made.token, body }),
    };
  });
  after(async () => {
    await Promise.all(nodes.map((node) => node.close()));
    await dropDatabase(await postgresServer(), databaseUrl);
    for (const node of nodes) assert.deepEqual(node.errors, []);
  });

  const at = (node: number, one: TestOrganisation): TestOrganisation => ({
    ...one,
    issuer: `${nodes[node]?.baseUrl}/oauth/${one.organisation.id}`,
  });
  const userinfo = (token: string) =>
    sendRaw(`${at(1, org).issuer}/userinfo`, { headers: { authorization: `Bearer ${token}` } });
  const introspect = async (token: string, by: TestClient) =>
    (await postForm(`${at(1, org).issuer}/introspect`, { token, ...credentials(by) })).body;
  /** The bar is a second of an idle machine; this one may be busy. */
  const LONGEST_MS = 5_000;
  const seen = (what: string, check: () => Promise<boolean>) => eventually(what, check, LONGEST_MS);

  test("whom one of them deprovisions has nothing at the other any more", async () => {
    const service = nodes[0]?.service;
    assert.ok(service);
    const own = await withUser(service, org, "leaver-nodes@acme.example");
    const source = codeSource(own);
    const tokens = await source.tokens();
    const code = await source.code();
    assert.equal((await userinfo(tokens.accessToken)).status, 200);
    assert.equal((await introspect(tokens.accessToken, own.web))["active"], true);
    const off = { Operations: [{ op: "replace", value: { active: false } }] };
    assert.equal((await scim.call("PATCH", `/Users/${own.user.id}`, off)).status, 200);
    await seen("introspection", async () => !(await introspect(tokens.accessToken, own.web))["active"]);
    await seen("userinfo", async () => (await userinfo(tokens.accessToken)).status === 401);
    // These ask the database: at once.
    assert.equal((await refresh(at(1, own), tokens.refreshToken)).body["error"], "invalid_grant");
    assert.equal((await redeemWith(at(1, own), code)).body["error"], "invalid_grant");
  });

  test("whom one of them takes out of a group loses its roles and permissions at the other", async () => {
    const service = nodes[0]?.service;
    assert.ok(service);
    const web = await makeClient(service, org.organisation, {
      ...{ redirectUris: [REDIRECT_URI], requireConsent: false },
      allowedScopes: ["openid", "roles", "groups", "permissions"],
    });
    const own = await withUser(service, org, "member-nodes@acme.example");
    const made = await scim.call("POST", "/Groups", {
      displayName: "Staff",
      members: [{ value: own.user.id }],
    });
    const group = String(made.body["id"]);
    const act = { orgId: org.organisation.id, actor: "test" };
    const content = { name: "Clerk", description: null, permissions: ["file:read"] };
    const role = await createRole(service, {
      ...act,
      applicationId: web.application.id,
      key: "clerk",
      content,
    });
    await assignRole(service, { ...act, role: { roleId: role.id }, subjectType: "group", subjectId: group });
    const { accessToken } = await codeSource(own).tokens({ scope: "openid roles groups permissions" }, web);
    const told = async () => {
      const { roles, groups, permissions } = await introspect(accessToken, web);
      return JSON.stringify([roles, groups, permissions]);
    };
    const all = JSON.stringify([["clerk"], ["Staff"], ["file:read"]]);
    const none = JSON.stringify([[], [], []]);
    await seen("the group", async () => (await told()) === all);
    const members = (op: string) => ({
      Operations: [{ op, path: "members", value: [{ value: own.user.id }] }],
    });
    await scim.call("PATCH", `/Groups/${group}`, members("remove"));
    await seen("the removal", async () => (await told()) === none);
    await scim.call("PATCH", `/Groups/${group}`, members("add"));
    await seen("the return", async () => (await told()) === all);
    assert.equal((await scim.call("DELETE", `/Groups/${group}`)).status, 204);
    await seen("the deletion", async () => (await told()) === none);
  });
});
