/** A user's roles and groups: each with the way to it, given and taken away from the user's page. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { createGroup } from "../../../core/groups/groups.ts";
import { findDirectGroups } from "../../../core/groups/named-groups.store.ts";
import { listAssignments } from "../../../core/roles/assignments.store.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { type Directory, groupRef, makeDirectory, userRef } from "../../../testing/fixtures/directory.ts";
import { type SeededRecords, seedRecords } from "../../../testing/fixtures/planted-records.ts";
import { newScimConnection } from "../../../testing/fixtures/scim-connection.ts";
import { type ConsoleBrowser, consoleBrowser, formOfPage } from "../../../testing/probes/console-browser.ts";
import { startTestService, type TestService } from "../../../testing/test-service.ts";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: SeededRecords;
  let other: SeededRecords;
  let here: ConsoleBrowser;
  let own: Directory;
  before(async () => {
    running = await startTestService({ databaseUrl: await fresh() });
    org = await seedRecords(running.service, "Acme");
    other = await seedRecords(running.service, "Beta");
    here = await consoleBrowser(running, org);
    own = await makeDirectory(running.service, org.organisation.id);
  });
  after(async () => {
    await running.close();
    assert.deepEqual(running.errors, []);
  });

  const db = () => running.service.database.query;
  const rolesOf = async (subjectType: "user" | "group", subjectId: string) =>
    (
      await listAssignments(db(), own.orgId, {
        ...{ of: { subjectType, subjectId }, limit: 100, isDescending: false },
      })
    ).map(({ roleId }) => roleId);
  const groupsOf = async (userId: string) =>
    (await findDirectGroups(db(), { orgId: own.orgId, userId })).map(({ id }) => id);
  const rowOf = (body: string, id: string) =>
    new RegExp(`<tr role="row" id="${id}">[\\s\\S]*?</tr>`).exec(body)?.[0] ?? "";
  /** Ticks rows of a list, whatever else is ticked in the page: the list's form, and then that of the page that asks. */
  const tick = async (rest: string, act: string, ids: readonly string[]) => {
    const form = formOfPage(await here.get(rest), { act });
    for (const id of ids) form.append("selected", id);
    const asked = await here.post(`${rest}/bulk`, form);
    return asked.body.includes('name="confirmed"') ? here.post(`${rest}/bulk`, formOfPage(asked)) : asked;
  };

  test("the access tab shows direct roles, roles through groups with the path, and the groups", async () => {
    const user = await own.user();
    const application = org.web.application.id;
    const inner = await own.group("Inner <b>", [userRef(user)]);
    const outer = await own.group("Outer", [groupRef(inner)]);
    const [direct, both, through] = await Promise.all(
      ["direct", "both", "through"].map((key) => own.role(application, `shown-${key}`)),
    );
    assert.ok(direct && both && through);
    await own.assign(direct, "user", user);
    await own.assign(both, "user", user);
    await own.assign(both, "group", outer);
    await own.assign(through, "group", outer);
    const { body } = await here.get(`/users/${user}/access`);
    const path = new RegExp(
      `/groups/${inner}"><bdi>Inner &lt;b&gt;</bdi></a>[^/]*→</span> <a href="[^"]*/groups/${outer}"`,
    );
    assert.match(rowOf(body, `user-role-${direct}`), /Direct[\s\S]*user-role-remove-/);
    assert.doesNotMatch(rowOf(body, `user-role-${direct}`), /→/);
    assert.match(rowOf(body, `user-role-${both}`), /Direct/);
    assert.match(rowOf(body, `user-role-${both}`), path);
    assert.match(rowOf(body, `user-role-${through}`), path);
    assert.doesNotMatch(rowOf(body, `user-role-${through}`), /Direct|user-role-remove-/);
    assert.match(rowOf(body, "user-role-own"), /Member/);
    assert.match(rowOf(body, `user-group-${inner}`), /Direct[\s\S]*user-group-remove-/);
    assert.match(rowOf(body, `user-group-${outer}`), /Inner/);
    assert.doesNotMatch(rowOf(body, `user-group-${outer}`), /Direct|user-group-remove-/);
  });

  test("ticked roles are assigned, once; those given already, built in or of others are neither offered nor given", async () => {
    const user = await own.user();
    const application = org.web.application.id;
    const [one, two] = [await own.role(application, "tick-one"), await own.role(null, "tick-two")];
    const rest = `/users/${user}/roles/add`;
    const { body } = await here.get(`${rest}?search=tick-`);
    for (const id of [one, two]) assert.ok(body.includes(`id="role-${id}"`));
    assert.doesNotMatch((await here.get(`${rest}?search=Administrator`)).body, /id="role-/);
    assert.match((await tick(rest, "assign", [one, two])).body, /2 done\./);
    assert.deepEqual((await rolesOf("user", user)).sort(), [one, two].sort());
    assert.doesNotMatch((await here.get(`${rest}?search=tick-`)).body, /id="role-/);
    const builtIn = await db()
      .selectFrom("role")
      .select("id")
      .where("org_id", "=", own.orgId)
      .where("built_in", "=", 1)
      .execute();
    await tick(rest, "assign", [other.ids["roles"] ?? "", one, "nonsense", ...builtIn.map(({ id }) => id)]);
    assert.equal((await rolesOf("user", user)).length, 2);
    const { body: access } = await here.get(`/users/${user}/access`);
    assert.match((await here.get(`/users/${user}/activity`)).body, /tick-one/);
    const [, assignment = ""] =
      /\/roles\/([\da-f-]{36})\/remove"/.exec(rowOf(access, `user-role-${one}`)) ?? [];
    const strange = await own.user();
    assert.equal((await here.get(`/users/${strange}/roles/${assignment}/remove`)).status, 404);
    const removed = await here.send(`/users/${user}/roles/${assignment}/remove`);
    assert.match(removed.location ?? "", /\/access\?done=unassigned$/);
    assert.deepEqual(await rolesOf("user", user), [two]);
  });

  test("a group gets ticked roles from its own page", async () => {
    const group = await own.group("Receivers");
    const role = await own.role(org.web.application.id, "for-groups");
    assert.match((await tick(`/groups/${group}/roles/add`, "assign", [role])).body, /1 done\./);
    assert.deepEqual(await rolesOf("group", group), [role]);
    assert.match((await here.get(`/groups/${group}/roles`)).body, new RegExp(`/roles/${role}/assignments/`));
  });

  test("the user is added to ticked groups of the organisation and removed from one; a directory's stay its own", async () => {
    const user = await own.user();
    const [one, two] = [await own.group("Join one"), await own.group("Join two")];
    const { connection } = await newScimConnection(running.service, own.orgId);
    const content = { displayName: "Join theirs", description: null, externalId: null };
    const theirs = await createGroup(running.service, {
      ...{ ...own.act, content, source: "scim", connectionId: connection.id },
    });
    const rest = `/users/${user}/groups/add`;
    const { body } = await here.get(`${rest}?search=join`);
    assert.ok(body.includes(`id="group-${one}"`) && !body.includes(`id="group-${theirs.id}"`));
    const outcome = await tick(rest, "join", [one, two, theirs.id, other.ids["groups"] ?? ""]);
    assert.match(outcome.body, /2 done, 1 not\./);
    assert.deepEqual((await groupsOf(user)).sort(), [one, two].sort());
    assert.doesNotMatch((await here.get(`${rest}?search=join`)).body, /id="group-/);
    const left = await here.send(`/users/${user}/groups/${one}/remove`);
    assert.match(left.location ?? "", /\/access\?done=left$/);
    assert.deepEqual(await groupsOf(user), [two]);
    assert.match((await here.get(`/users/${user}/groups/${one}/remove`)).location ?? "", /done=already$/);
  });

  test("nothing of another organisation's user or group is there", async () => {
    for (const rest of [
      `/users/${other.user.id}/roles/add`,
      `/users/${other.user.id}/groups/add`,
      `/groups/${other.ids["groups"]}/roles/add`,
      `/users/${org.user.id}/groups/${other.ids["groups"]}/remove`,
      `/users/${org.user.id}/roles/${other.ids["assignment"]}/remove`,
    ])
      assert.equal((await here.get(rest)).status, 404, rest);
  });
});
