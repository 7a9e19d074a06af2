/** The scopes `roles`, `groups` and `permissions`, wherever a token is read (api-v1.md, "In tokens"). */
import assert from "node:assert/strict";
import type { AddressInfo } from "node:net";
import { after, before, test } from "node:test";
import { assignGroup, unassignGroup } from "../../core/application-access/application-access.ts";
import type { ApplicationSettings } from "../../core/applications/application.ts";
import { listAuditEvents } from "../../core/audit/audit.store.ts";
import { deleteGroup } from "../../core/groups/groups.ts";
import { changeRole, deleteRole } from "../../core/roles/roles.ts";
import { ask, FORM_TYPE } from "../../testing/ask.ts";
import { forEachDatabase } from "../../testing/databases.ts";
import { eventually } from "../../testing/eventually.ts";
import { type CodeSource, codeSource } from "../../testing/fakes/code-source.ts";
import { credentials, postForm, refresh } from "../../testing/fixtures/client.ts";
import { type Directory, groupRef, makeDirectory, userRef } from "../../testing/fixtures/directory.ts";
import { defineOlderScope } from "../../testing/fixtures/scopes.ts";
import { payloadOf } from "../../testing/probes/answers.ts";
import {
  makeClient,
  makeOrganisation,
  REDIRECT_URI,
  startTestService,
  type TestClient,
  type TestOrganisation,
  type TestService,
} from "../../testing/test-service.ts";

const SCOPE = "openid roles groups permissions";
const [API, SECOND] = ["https://api.example", "https://second.example"];

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let other: TestService;
  let org: TestOrganisation;
  let source: CodeSource;
  let directory: Directory;
  before(async () => {
    const databaseUrl = await fresh();
    running = await startTestService({ databaseUrl });
    other = await startTestService({ databaseUrl, baseUrl: running.baseUrl });
    org = await makeOrganisation(running.service);
    source = codeSource(org);
    directory = await makeDirectory(running.service, org.organisation.id);
  });
  after(async () => {
    assert.deepEqual([...running.errors, ...other.errors], []);
    await other.close();
    await running.close();
  });

  const client = (settings: Partial<ApplicationSettings> = {}) =>
    makeClient(running.service, org.organisation, {
      redirectUris: [REDIRECT_URI],
      requireConsent: false,
      allowedScopes: SCOPE.split(" "),
      ...settings,
    });
  const told = (claims: Readonly<Record<string, unknown>>) => [
    claims["roles"],
    claims["groups"],
    claims["permissions"],
  ];
  /** Of each node, wherever its links go. */
  const issuerAt = ({ app }: TestService) => {
    const { port } = app.server.address() as AddressInfo;
    return `http://127.0.0.1:${port}/oauth/${org.organisation.id}`;
  };
  const get = async (path: string, token: string, at = running) => {
    const issuer = issuerAt(at);
    const answer = await ask(`${issuer}${path}`, {
      method: "GET",
      headers: { authorization: `Bearer ${token}` },
    });
    return { status: answer.status, body: JSON.parse(answer.text) as Record<string, unknown> };
  };
  const introspect = async (token: string, by: TestClient, at = running) =>
    (await postForm(`${issuerAt(at)}/introspect`, { token, ...credentials(by) })).body;
  const ownToken = (by: TestClient, ...resources: string[]) => {
    const form = new URLSearchParams({ grant_type: "client_credentials", ...credentials(by) });
    for (const resource of resources) form.append("resource", resource);
    return ask(`${org.issuer}/token`, {
      method: "POST",
      body: form.toString(),
      headers: { "content-type": FORM_TYPE },
    }).then(({ text }) => JSON.parse(text) as Record<string, unknown>);
  };
  const user = () => userRef(org.user.id);

  test("without anything assigned the claims are empty lists, and without the scopes they are not there", async () => {
    const web = await client();
    const tokens = await source.tokens({ scope: SCOPE }, web);
    for (const claims of [
      payloadOf(tokens.accessToken),
      payloadOf(tokens.idToken),
      (await get("/userinfo", tokens.accessToken)).body,
      await introspect(tokens.accessToken, web),
    ])
      assert.deepEqual(told(claims), [[], [], []]);
    const none = [undefined, undefined, undefined];
    const plain = await source.tokens({ scope: "openid" }, web);
    assert.deepEqual(told(payloadOf(plain.accessToken)), none);
    assert.deepEqual(told(payloadOf(plain.idToken)), none);
    assert.deepEqual(told((await get("/userinfo", plain.accessToken)).body), none);
    assert.deepEqual(told(await introspect(plain.accessToken, web)), none);
  });

  test("roles and permissions come from the user and from groups around it, sorted, each once; of this application alone", async () => {
    const [web, shop] = [await client(), await client()];
    const { id } = web.application;
    const [reader, writer, elsewhere, organisation] = [
      await directory.role(id, "reader", ["page:read", "file:read"]),
      await directory.role(id, "admin.writer", ["page:write", "page:read"]),
      await directory.role(shop.application.id, "buyer", ["cart:fill"]),
      await directory.role(null, "auditor", ["log:read"]),
    ];
    const inner = await directory.group("Inner", [user()]);
    const middle = await directory.group("Middle", [groupRef(inner)]);
    const outer = await directory.group("Outer", [groupRef(middle)]);
    await directory.group("Beside", [user(), groupRef(inner)]);
    for (const role of [reader, elsewhere, organisation]) await directory.assign(role, "user", org.user.id);
    await directory.assign(writer, "group", outer);
    await directory.assign(reader, "group", middle);
    const tokens = await source.tokens({ scope: SCOPE }, web);
    const expected = [
      ["admin.writer", "reader"],
      // A group that leads to no role here is nobody's business here.
      ["Inner", "Middle", "Outer"],
      ["file:read", "page:read", "page:write"],
    ];
    for (const claims of [
      payloadOf(tokens.accessToken),
      payloadOf(tokens.idToken),
      (await get("/userinfo", tokens.accessToken)).body,
      await introspect(tokens.accessToken, web),
    ])
      assert.deepEqual(told(claims), expected);
  });

  test("an application chooses which groups are told, and by what; access by a group is a path too", async () => {
    const group = await directory.group("Clerks", [user()]);
    const other = await directory.group("Hobby", [user()]);
    const groupsOf = async (settings: Partial<ApplicationSettings>) => {
      const web = await client(settings);
      const act = { ...directory.act, applicationId: web.application.id };
      await assignGroup(running.service, { ...act, groupId: group });
      return payloadOf((await source.tokens({ scope: SCOPE }, web)).idToken)["groups"] as string[];
    };
    assert.deepEqual(await groupsOf({ access: "assigned" }), ["Clerks"]);
    assert.deepEqual(await groupsOf({ groupsClaimValue: "id" }), [group]);
    assert.deepEqual(await groupsOf({ groupsClaimValue: "externalId" }), []);
    const all = await groupsOf({ groupsClaim: "all" });
    assert.deepEqual(all, all.toSorted());
    assert.ok(all.includes("Hobby") && all.includes("Clerks"));
    assert.ok((await groupsOf({ groupsClaim: "all", groupsClaimValue: "id" })).includes(other));
  });

  test("an access token tells the roles of the application that it is for, ID token and userinfo the client's", async () => {
    const api = await client({ audience: API });
    const web = await client({ allowedResources: [API, SECOND] });
    await directory.assign(await directory.role(web.application.id, "web"), "user", org.user.id);
    const ofApi = await directory.role(api.application.id, "api");
    await directory.assign(ofApi, "user", org.user.id);
    const { accessToken, idToken } = await source.tokens({ scope: SCOPE, resource: API }, web);
    assert.deepEqual(payloadOf(accessToken)["roles"], ["api"]);
    assert.deepEqual(payloadOf(idToken)["roles"], ["web"]);
    assert.deepEqual((await get("/userinfo", accessToken)).body["roles"], ["web"]);
    assert.deepEqual((await introspect(accessToken, api))["roles"], ["api"]);
    assert.deepEqual((await get("/userinfo/roles", accessToken)).body["items"], ["api"]);
    // A resource that is no application's: the client's.
    const second = await source.tokens({ scope: SCOPE, resource: SECOND }, web);
    assert.deepEqual(payloadOf(second.accessToken)["roles"], ["web"]);
  });

  test("a client acting for itself is told what it is assigned itself; of two applications nothing", async () => {
    await client({ audience: "https://one.example" });
    const two = await client({ audience: "https://two.example" });
    const resources = ["https://one.example", "https://two.example"] as const;
    const job = await client({
      ...{ grantTypes: ["client_credentials"], allowedScopes: ["roles", "groups", "permissions"] },
      allowedResources: resources,
    });
    const role = await directory.role(two.application.id, "runner", ["job:run"]);
    await directory.assign(role, "application", job.application.id);
    const token = String((await ownToken(job, resources[1]))["access_token"]);
    assert.deepEqual(told(payloadOf(token)), [["runner"], [], ["job:run"]]);
    assert.deepEqual(told(await introspect(token, two)), [["runner"], [], ["job:run"]]);
    assert.deepEqual((await get("/userinfo/permissions", token)).body["items"], ["job:run"]);
    const own = String((await ownToken(job))["access_token"]);
    assert.deepEqual(told(payloadOf(own)), [[], [], []]);
    assert.equal((await ownToken(job, ...resources))["error"], "invalid_target");
  });

  test("introspection and userinfo follow a change within a second on every node, and so does the next token", async () => {
    const web = await client();
    const id = await directory.role(web.application.id, "changing", ["a:read"]);
    const group = await directory.group("Changing", [user()]);
    await directory.assign(id, "group", group);
    const { accessToken, refreshToken } = await source.tokens({ scope: SCOPE }, web);
    const now = async (at: TestService) => [
      told(await introspect(accessToken, web, at)),
      told((await get("/userinfo", accessToken, at)).body),
    ];
    const everywhere = async (expected: readonly unknown[]) => {
      const started = performance.now();
      for (const at of [running, other])
        await eventually(`node sees ${JSON.stringify(expected)}`, async () =>
          (await now(at)).every((one) => JSON.stringify(one) === JSON.stringify(expected)),
        );
      assert.ok(performance.now() - started < 10_000);
    };
    await everywhere([["changing"], ["Changing"], ["a:read"]]);
    await changeRole(running.service, { ...directory.act, id, content: { permissions: ["a:write"] } });
    assert.deepEqual((await now(running))[0], [["changing"], ["Changing"], ["a:write"]]);
    await everywhere([["changing"], ["Changing"], ["a:write"]]);
    await directory.change(group, [], [user()]);
    await everywhere([[], [], []]);
    await directory.change(group, [user()]);
    await everywhere([["changing"], ["Changing"], ["a:write"]]);
    await deleteGroup(running.service, { ...directory.act, id: group });
    await everywhere([[], [], []]);
    await directory.assign(id, "user", org.user.id);
    const next = await refresh(org, refreshToken, {}, web);
    assert.deepEqual(told(payloadOf(String(next.body["access_token"]))), [["changing"], [], ["a:write"]]);
    await deleteRole(running.service, { ...directory.act, id });
    await everywhere([[], [], []]);
  });

  test("more than two hundred are left out, marked, and read page by page", async () => {
    const web = await client();
    const permissions = Array.from({ length: 201 }, (_, at) => `p:${String(at).padStart(3, "0")}`);
    const role = await directory.role(web.application.id, "many", permissions);
    await directory.assign(role, "user", org.user.id);
    const tokens = await source.tokens({ scope: SCOPE }, web);
    for (const claims of [
      payloadOf(tokens.accessToken),
      payloadOf(tokens.idToken),
      (await get("/userinfo", tokens.accessToken)).body,
      await introspect(tokens.accessToken, web),
    ]) {
      assert.equal(claims["permissions_overage"], true);
      assert.deepEqual([claims["permissions"], claims["roles"]], [undefined, ["many"]]);
    }
    const walked: unknown[] = [];
    for (let cursor = ""; ; ) {
      const query = `?limit=100${cursor === "" ? "" : `&cursor=${cursor}`}`;
      const { body } = await get(`/userinfo/permissions${query}`, tokens.accessToken);
      walked.push(...(body["items"] as unknown[]));
      if (body["nextCursor"] === null) break;
      cursor = String(body["nextCursor"]);
    }
    assert.deepEqual(walked, permissions);
    const [first] = [(await get("/userinfo/permissions", tokens.accessToken)).body];
    assert.equal((first["items"] as unknown[]).length, 50);
    await changeRole(running.service, {
      ...{ ...directory.act, id: role },
      content: { permissions: permissions.slice(1) },
    });
    assert.deepEqual((await introspect(tokens.accessToken, web))["permissions"], permissions.slice(1));
    for (const wrong of ["?limit=0", "?limit=201", "?limit=x", "?cursor=x", "?page=1", "?limit=1&limit=2"])
      assert.equal((await get(`/userinfo/permissions${wrong}`, tokens.accessToken)).status, 400, wrong);
    // A cursor of another list.
    const cursor = String(first["nextCursor"]);
    assert.equal((await get(`/userinfo/roles?cursor=${cursor}`, tokens.accessToken)).status, 400);
    const plain = await source.tokens({ scope: "openid" }, web);
    assert.equal((await get("/userinfo/permissions", plain.accessToken)).status, 403);
    assert.equal((await get("/userinfo/permissions", "nonsense")).status, 401);
    assert.equal((await ask(`${org.issuer}/userinfo/email`, { method: "GET" })).status, 404);
  });

  test("the claims parameter asks for them, counted as their scopes", async () => {
    const web = await client();
    await directory.assign(await directory.role(web.application.id, "asked"), "user", org.user.id);
    const claims = JSON.stringify({ id_token: { roles: null }, userinfo: { permissions: null } });
    const { idToken, accessToken } = await source.tokens({ scope: "openid", claims }, web);
    assert.deepEqual(told(payloadOf(idToken)), [["asked"], undefined, undefined]);
    assert.deepEqual(told((await get("/userinfo", accessToken)).body), [undefined, undefined, []]);
    const narrow = await client({ allowedScopes: ["openid"] });
    const refused = await source.tokens({ scope: "openid", claims }, narrow);
    assert.deepEqual(payloadOf(refused.idToken)["roles"], undefined);
  });

  test("discovery names the scopes and the claims", async () => {
    const answer = await ask(`${org.issuer}/.well-known/openid-configuration`, { method: "GET" });
    const metadata = JSON.parse(answer.text) as Record<string, string[]>;
    for (const name of ["roles", "groups", "permissions"]) {
      assert.ok(metadata["scopes_supported"]?.includes(name));
      assert.ok(metadata["claims_supported"]?.includes(name));
    }
  });

  test("a group lets in, and keeps out from the moment that it does not any more", async () => {
    const web = await client({ access: "assigned" });
    const outer = await directory.group("Members", []);
    const inner = await directory.group("Team", [user()]);
    const act = { ...directory.act, applicationId: web.application.id, groupId: outer };
    assert.equal(await assignGroup(running.service, act), true);
    assert.equal(await assignGroup(running.service, act), false);
    await assert.rejects(source.tokens({ scope: "openid" }, web));
    await directory.change(outer, [groupRef(inner)]);
    const { accessToken, refreshToken } = await source.tokens({ scope: "openid" }, web);
    for (const at of [running, other])
      await eventually("the token is taken", async () => {
        const { active } = await introspect(accessToken, web, at);
        return active === true && (await get("/userinfo", accessToken, at)).status === 200;
      });
    await directory.change(inner, [], [user()]);
    for (const at of [running, other])
      await eventually("the token is refused", async () => {
        const { active } = await introspect(accessToken, web, at);
        return active === false && (await get("/userinfo", accessToken, at)).status === 401;
      });
    assert.equal((await refresh(org, refreshToken, {}, web)).body["error"], "invalid_grant");
    await directory.change(inner, [user()]);
    assert.equal((await source.tokens({ scope: "openid" }, web)).body["token_type"], "Bearer");
    assert.equal(await unassignGroup(running.service, act), true);
    assert.equal(await unassignGroup(running.service, act), false);
    await assert.rejects(source.tokens({ scope: "openid" }, web));
    const events = await listAuditEvents(running.service.database.query, act.orgId, 20);
    const done = events.filter(({ target }) => target === act.applicationId).map(({ action }) => action);
    assert.ok(done.includes("application.group-assigned") && done.includes("application.group-unassigned"));
    const foreign = { ...act, groupId: org.user.id };
    assert.equal(await assignGroup(running.service, foreign), "no-group");
    assert.equal(await assignGroup(running.service, { ...act, applicationId: outer }), "no-application");
  });

  // Last: the scope is there from then on.
  test("an older scope of the same name keeps its meaning, and an older claim its value", async () => {
    const { service } = running;
    const orgId = org.organisation.id;
    const claims = [{ name: "groups", source: "static", value: "old" }] as const;
    await defineOlderScope(service, orgId, "groups", claims);
    await service.changes.publish(service.database.query, { orgId, topic: "scope" });
    const web = await client();
    const { accessToken, idToken } = await source.tokens({ scope: SCOPE }, web);
    assert.deepEqual(payloadOf(accessToken)["groups"], "old");
    assert.equal(payloadOf(idToken)["groups"], undefined);
    assert.equal((await introspect(accessToken, web))["groups"], "old");
    assert.equal((await get("/userinfo", accessToken)).body["groups"], "old");
    assert.equal((await get("/userinfo/groups", accessToken)).status, 404);
  });
});
