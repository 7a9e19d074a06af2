import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { newUuid } from "@signet/protocol/uuid";
import { assignGroup, assignUser } from "../../../core/application-access/application-access.ts";
import { setUserStatus } from "../../../core/users/users.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { type ApiClient, makeApiClient } from "../../../testing/fixtures/api-client.ts";
import { type Directory, groupRef, makeDirectory, userRef } from "../../../testing/fixtures/directory.ts";
import { makeSystemAccount } from "../../../testing/fixtures/system-account.ts";
import {
  makeClient,
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../../testing/test-service.ts";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  let own: Directory;
  let foreign: Directory;
  let api: ApiClient;
  before(async () => {
    running = await startTestService({ databaseUrl: await fresh() });
    const { service } = running;
    org = await makeOrganisation(service);
    own = await makeDirectory(service, org.organisation.id);
    foreign = await makeDirectory(service, (await makeOrganisation(service, "Other")).organisation.id);
    api = await makeApiClient(service, org, ["signet:roles:write"]);
  });
  after(async () => {
    await running.close();
    assert.deepEqual(running.errors, []);
  });

  type Body = Record<string, unknown>;
  const idsOf = ({ body }: { body: Body }) => (body["items"] as Body[]).map(({ id }) => id);
  const codeOf = ({ status, body }: { status: number; body: Body }) => [
    status,
    String(body["type"]).replace("urn:signet:error:", ""),
  ];
  const faultsOf = ({ status, body }: { status: number; body: Body }) => [
    status,
    ...(body["errors"] as Array<{ path: string }>).map(({ path }) => path),
  ];
  const post = (path: string, body: unknown) => api.call("POST", path, { body });

  test("a role is made, read, changed and deleted, and has every member", async () => {
    const applicationId = await own.application("Books");
    const made = await post("/roles", { applicationId, key: "editor", permissions: ["a:read", "a:read"] });
    const { id, createdAt, updatedAt, ...rest } = made.body;
    for (const time of [createdAt, updatedAt]) assert.match(String(time), /^\d{4}-\d\d-\d\dT.*Z$/);
    assert.equal(made.status, 201);
    assert.deepEqual(rest, {
      ...{ applicationId, key: "editor", name: "editor", description: null },
      ...{ permissions: ["a:read"], builtIn: false },
    });
    assert.deepEqual(codeOf(await post("/roles", { applicationId, key: "editor" })), [409, "conflict"]);
    assert.equal((await post("/roles", { key: "editor" })).body["applicationId"], null);
    const path = `/roles/${id}`;
    const etag = (await api.call("GET", path)).headers.get("etag") ?? "";
    const content = { name: "Editors", description: "Write", permissions: null };
    const changed = await api.call("PATCH", path, { body: content, headers: { "if-match": etag } });
    const shown = [changed.body["name"], changed.body["description"], changed.body["permissions"]];
    assert.deepEqual(shown, ["Editors", "Write", []]);
    const stale = { headers: { "if-match": etag } };
    assert.deepEqual(codeOf(await api.call("DELETE", path, stale)), [412, "stale"]);
    for (const body of [{ key: "x" }, { applicationId }, { builtIn: true }, { createdAt }])
      assert.equal((await api.call("PATCH", path, { body })).status, 422, JSON.stringify(body));
    assert.equal((await api.call("DELETE", path)).status, 204);
    assert.equal((await api.call("GET", path)).status, 404);
  });

  test("what no role can be is refused with its place", async () => {
    const refused = [
      [{ key: "Upper" }, ["/key"]],
      [{ key: "x".repeat(65) }, ["/key"]],
      [
        { key: "k1", permissions: ["ok:read", "all", "a:b:c", "A:b"] },
        ["/permissions/1", "/permissions/2", "/permissions/3"],
      ],
      [{ key: "k2", applicationId: await foreign.application("Theirs") }, ["/applicationId"]],
      [{ key: "k3", applicationId: newUuid() }, ["/applicationId"]],
    ] as const;
    for (const [body, paths] of refused)
      assert.deepEqual(faultsOf(await post("/roles", body)), [422, ...paths]);
  });

  test("built-in roles are listed, and are neither changed, deleted nor assigned", async () => {
    const list = await api.call("GET", `/roles?filter=${encodeURIComponent("builtIn eq true")}&sort=key`);
    assert.deepEqual(
      (list.body["items"] as Body[]).map(({ key }) => key),
      ["Administrator", "Standard"],
    );
    const [id] = idsOf(list);
    const refused = [409, "built-in"];
    assert.deepEqual(codeOf(await api.call("PATCH", `/roles/${id}`, { body: { name: "Boss" } })), refused);
    assert.deepEqual(codeOf(await api.call("DELETE", `/roles/${id}`)), refused);
    const subject = { subjectType: "user", subjectId: org.user.id };
    assert.deepEqual(codeOf(await post("/assignments", { roleId: id, ...subject })), refused);
    const byKey = { applicationId: null, roleKey: "Administrator" };
    assert.deepEqual(codeOf(await post("/assignments", { ...byKey, ...subject })), refused);
  });

  test("a role is given to subjects of every type, by its id or its key, once", async () => {
    const applicationId = await own.application("Payroll");
    const [roleId, other] = [await own.role(applicationId, "clerk"), await own.application("Other")];
    const client = await makeClient(running.service, org.organisation, {});
    const account = await makeSystemAccount(running.service, org, {});
    const subjects = {
      user: await own.user(),
      group: await own.group("Clerks"),
      application: client.application.id,
      systemAccount: account.id,
    };
    for (const [subjectType, subjectId] of Object.entries(subjects)) {
      const body = { applicationId, roleKey: "clerk", subjectType, subjectId: subjectId.toUpperCase() };
      const made = await post("/assignments", body);
      assert.equal(made.status, 201, JSON.stringify(made.body));
      const { id, createdAt, updatedAt, ...rest } = made.body;
      const by = { createdBy: `client:${api.application.id}` };
      assert.deepEqual(rest, { roleId, roleKey: "clerk", applicationId, subjectType, subjectId, ...by });
      assert.equal(createdAt, updatedAt);
      assert.deepEqual(codeOf(await post("/assignments", { roleId, subjectType, subjectId })), [
        409,
        "conflict",
      ]);
      const filter = encodeURIComponent(`subjectType eq "${subjectType}" and roleKey eq "clerk"`);
      assert.deepEqual(idsOf(await api.call("GET", `/assignments?filter=${filter}`)), [id]);
    }
    const user = { subjectType: "user", subjectId: org.user.id };
    const refused = [
      [{ roleId, roleKey: "other", ...user }, "/roleKey"],
      [{ roleId, applicationId: other, ...user }, "/applicationId"],
      [{ applicationId: other, roleKey: "clerk", ...user }, "/roleKey"],
      [{ applicationId: newUuid(), roleKey: "clerk", ...user }, "/applicationId"],
      [{ roleId: await foreign.role(null, "theirs"), ...user }, "/roleId"],
      [{ ...user }, "/roleId"],
      [{ roleId, subjectType: "user", subjectId: await foreign.user() }, "/subjectId"],
      [{ roleId, subjectType: "group", subjectId: subjects.user }, "/subjectId"],
    ] as const;
    for (const [body, path] of refused)
      assert.deepEqual(faultsOf(await post("/assignments", body)), [422, path]);
    const all = idsOf(
      await api.call("GET", `/assignments?filter=${encodeURIComponent(`roleId eq "${roleId}"`)}`),
    );
    assert.equal((await api.call("DELETE", `/assignments/${all[0]}`)).status, 204);
    assert.equal((await api.call("DELETE", `/assignments/${all[0]}`)).status, 404);
    assert.equal((await api.call("DELETE", `/roles/${roleId}`)).status, 204);
    assert.equal((await api.call("GET", `/assignments/${all[1]}`)).status, 404);
  });

  const ask = (question: Record<string, string>) =>
    api.call("GET", `/access?${new URLSearchParams(question)}`);

  test("why: the paths by which a user has a role or a permission, the shortest first", async () => {
    const applicationId = await own.application("Ledger");
    const [user, bare] = [await own.user(), await own.user()];
    const roleId = await own.role(applicationId, "auditor", ["ledger:read"]);
    const inner = await own.group("Inner", [userRef(user)]);
    const outer = await own.group("Outer", [groupRef(inner)]);
    await own.assign(roleId, "group", outer);
    await own.assign(roleId, "user", user);
    const person = { type: "user", id: user, name: "Uma User" };
    const role = { type: "role", id: roleId, name: "auditor" };
    const through = [
      { type: "group", id: inner, name: "Inner" },
      { type: "group", id: outer, name: "Outer" },
    ];
    const permission = { type: "permission", name: "ledger:read" };
    const of = { subjectType: "user", subjectId: user, applicationId };
    assert.deepEqual((await ask({ ...of, role: "auditor" })).body, {
      ...{ allowed: true, reason: "allowed" },
      paths: [
        [person, role],
        [person, ...through, role],
      ],
    });
    assert.deepEqual((await ask({ ...of, permission: "ledger:read" })).body["paths"], [
      [person, role, permission],
      [person, ...through, role, permission],
    ]);
    const group = { subjectType: "group", subjectId: inner, applicationId };
    assert.deepEqual((await ask({ ...group, role: "auditor" })).body["paths"], [[...through, role]]);
    const no = { allowed: false, reason: "no-role", paths: [] };
    assert.deepEqual((await ask({ ...of, permission: "ledger:write" })).body, no);
    assert.deepEqual((await ask({ ...of, subjectId: bare, role: "auditor" })).body, no);
    assert.deepEqual((await ask(of)).body, { allowed: true, reason: "allowed", paths: [[person]] });
    await setUserStatus(running.service, { ...own.act, id: user, disabled: true });
    assert.deepEqual((await ask({ ...of, role: "auditor" })).body, { ...no, reason: "subject-disabled" });
  });

  test("why: an application that only assigned users may use", async () => {
    const { application } = await makeClient(running.service, org.organisation, { access: "assigned" });
    const [applicationId, user] = [application.id, await own.user()];
    const group = await own.group("Assigned", [userRef(user)]);
    const roleId = await own.role(applicationId, "reader");
    await own.assign(roleId, "user", user);
    const of = { subjectType: "user", subjectId: user, applicationId };
    const outside = { allowed: false, reason: "not-assigned", paths: [] };
    assert.deepEqual((await ask(of)).body, outside);
    assert.deepEqual((await ask({ ...of, role: "reader" })).body, outside);
    await assignGroup(running.service, { ...own.act, applicationId, groupId: group });
    const person = { type: "user", id: user, name: "Uma User" };
    const byGroup = [person, { type: "group", id: group, name: "Assigned" }];
    assert.deepEqual((await ask(of)).body, { allowed: true, reason: "allowed", paths: [byGroup] });
    await assignUser(running.service, { ...own.act, applicationId, userId: user });
    assert.deepEqual((await ask(of)).body["paths"], [[person], byGroup]);
    assert.equal((await ask({ ...of, role: "reader" })).body["allowed"], true);
  });

  test("why: what programs have, what a user's own role gives, and no more than twenty paths", async () => {
    const applicationId = await own.application("Machines");
    const roleId = await own.role(applicationId, "robot");
    const client = await makeClient(running.service, org.organisation, {});
    await own.assign(roleId, "application", client.application.id);
    const program = { subjectType: "application", subjectId: client.application.id, applicationId };
    const step = { type: "role", id: roleId, name: "robot" };
    assert.deepEqual((await ask({ ...program, role: "robot" })).body["paths"], [[step]]);
    assert.deepEqual((await ask(program)).body, { allowed: true, reason: "allowed", paths: [] });
    const user = await own.user();
    const standard = await ask({ subjectType: "user", subjectId: user, role: "Standard" });
    assert.equal(standard.body["allowed"], true);
    const none = await ask({ subjectType: "user", subjectId: user, role: "Administrator" });
    assert.equal(none.body["reason"], "no-role");
    for (let at = 0; at < 25; at++)
      await own.assign(roleId, "group", await own.group(`Many ${at}`, [userRef(user)]));
    const many = await ask({ subjectType: "user", subjectId: user, applicationId, role: "robot" });
    assert.equal((many.body["paths"] as unknown[]).length, 20);
  });

  test("what is asked of another organisation, or of another application's role, is refused with its place", async () => {
    const [one, two] = [await own.application("One"), await own.application("Two")];
    await own.role(one, "only-here");
    const of = { subjectType: "user", subjectId: org.user.id };
    const refused = [
      [{ ...of, applicationId: two, role: "only-here" }, "?role"],
      [{ ...of, applicationId: one, role: "nowhere" }, "?role"],
      [{ ...of, applicationId: one, role: "only-here", permission: "a:b" }, "?role"],
      [{ ...of, applicationId: one, permission: "all" }, "?permission"],
      [{ ...of, applicationId: await foreign.application("Theirs") }, "?applicationId"],
      [{ ...of, applicationId: "x" }, "?applicationId"],
      [{ ...of, subjectId: await foreign.user(), applicationId: one }, "?subjectId"],
      [{ subjectType: "role", subjectId: org.user.id }, "?subjectType"],
    ] as const;
    for (const [question, path] of refused)
      assert.deepEqual(faultsOf(await ask(question as Record<string, string>)), [422, path], path);
    const orgId = foreign.orgId;
    assert.equal((await api.call("GET", `/access?${new URLSearchParams(of)}`, { orgId })).status, 404);
  });
});
