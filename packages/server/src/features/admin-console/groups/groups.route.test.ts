/** The groups' pages: who is in a group, and what neither a form nor a typed address can do. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { listAssignedGroups } from "../../../core/application-access/application-access.store.ts";
import { createConnection } from "../../../core/connections/connections.ts";
import { listMembers } from "../../../core/groups/group-members.store.ts";
import { findGroup } from "../../../core/groups/groups.store.ts";
import { createGroup } from "../../../core/groups/groups.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { type Directory, groupRef, makeDirectory, userRef } from "../../../testing/fixtures/directory.ts";
import { type SeededRecords, seedRecords } from "../../../testing/fixtures/planted-records.ts";
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

  const find = (id: string) => findGroup(running.service.database.query, { orgId: own.orgId, id });
  const members = async (id: string) => {
    const page = { effective: false, limit: 100 };
    const listed = await listMembers(running.service.database.query, { orgId: own.orgId, id }, page);
    return listed.map((one) => one.id);
  };
  const add = (id: string, member: string) => here.send(`/groups/${id}/members`, { member });
  const provisioned = async () => {
    const content = { name: "Entra ID", enabled: true, deletionPolicy: "disable" as const };
    const { id: connectionId } = await createConnection(running.service, { ...own.act, content });
    const group = { displayName: "From Entra ID", description: null, externalId: "e-1" };
    const act = { ...own.act, connectionId, source: "scim" as const, content: group };
    return (await createGroup(running.service, act)).id;
  };

  test("lists, narrows and pages the organisation's own groups", async () => {
    for (let at = 0; at < 30; at++) await own.group(`Crew ${String(at).padStart(2, "0")}`);
    const list = await here.get("/groups?search=CREW");
    assert.match(list.body, /1–25 of 30/);
    assert.ok(list.body.indexOf("Crew 00") < list.body.indexOf("Crew 24"));
    assert.doesNotMatch(list.body, /SeededRecords group/);
    const theirs = await here.get("/groups?search=seeded");
    assert.match(theirs.body, /SeededRecords group Acme/);
    assert.doesNotMatch(theirs.body, /SeededRecords group Beta/);
    assert.match((await here.get("/groups?search=crew&source=scim")).body, /0/);
    assert.doesNotMatch((await here.get("/groups?search=crew&source=scim")).body, /Crew 00/);
  });

  test("a member is a user by email address, or a group by name, of this organisation alone", async () => {
    const [group, inner] = [await own.group("Doors"), await own.group("Windows & <panes>")];
    const user = await own.user("opener@acme.example");
    assert.equal((await add(group, " OPENER@acme.example ")).status, 303);
    assert.equal((await add(group, "windows & <PANES>")).status, 303);
    assert.deepEqual(await members(group), [inner, user]);
    assert.match((await here.get(`/groups/${group}/members`)).body, /Windows &amp; &lt;panes&gt;/);
    for (const member of ["", "nobody@acme.example", "SeededRecords group Beta", other.user.email]) {
      const refused = await add(group, member);
      assert.equal(refused.status, 400, member);
      assert.match(refused.body, /aria-invalid="true"/);
    }
    const circle = await add(inner, "doors");
    assert.equal(circle.status, 400);
    assert.match(circle.body, /can’t contain itself/);
    assert.deepEqual(await members(inner), []);
    const removal = `/groups/${group}/members/${user}/remove`;
    assert.equal((await here.send(removal)).status, 303);
    assert.deepEqual(await members(group), [inner]);
    assert.equal((await here.get(`/groups/${group}/members/${other.user.id}/remove`)).status, 404);
    assert.equal((await here.get(`/groups/${other.ids["groups"]}/members`)).status, 404);
  });

  test("a walk through the members meets each once", async () => {
    const users: string[] = [];
    for (let at = 0; at < 26; at++) users.push(await own.user());
    const inner = await own.group("Nested here");
    const group = await own.group("Many", [groupRef(inner), ...users.map(userRef)]);
    const first = (await here.get(`/groups/${group}/members`)).body;
    const [, older = ""] =
      /id="page-older"[^>]*href="[^"]*(\?after=[^"]+)"|href="[^"]*(\?after=[^"]+)"/.exec(first) ?? [];
    const second = (await here.get(`/groups/${group}/members${older}`)).body;
    const shown = [first, second].flatMap((body) => [...body.matchAll(/id="member-([0-9a-f-]{36})"/g)]);
    assert.deepEqual(shown.map(([, id]) => id).toSorted(), [inner, ...users].toSorted());
  });

  test("what a connection provisions keeps its name and members, whatever a form sends", async () => {
    const [id, user] = [await provisioned(), await own.user("late@acme.example")];
    const page = await here.get(`/groups/${id}/members`);
    assert.doesNotMatch(page.body, /id="member-form"/);
    // The form of another group, sent to this one.
    const local = await here.get(`/groups/${await own.group("Local")}/members`);
    const form = formOfPage(local, { member: "late@acme.example" });
    assert.equal((await here.post(`/groups/${id}/members`, form)).status, 400);
    assert.deepEqual(await members(id), []);
    assert.equal((await here.send(`/groups/${id}/edit`, { displayName: "Mine" })).status, 400);
    assert.equal((await here.send(`/groups/${id}/edit`, { description: "Ours" })).status, 303);
    assert.equal((await here.send(`/groups/${id}/delete`, { name: "From Entra ID" })).status, 409);
    const group = await find(id);
    assert.deepEqual([group?.displayName, group?.description], ["From Entra ID", "Ours"]);
    assert.ok(user);
  });

  test("a group of the organisation opens an application, once; it is named on both sides, and taken off", async () => {
    const group = await own.group("Payroll <staff>");
    const application = org.web.application.id;
    const path = `/applications/${application}/groups`;
    const assigned = async () =>
      (
        await listAssignedGroups(
          running.service.database.query,
          { orgId: own.orgId, applicationId: application },
          { limit: 100 },
        )
      ).map(({ id }) => id);
    const before = await assigned();
    for (const typed of ["", "nobody", "SeededRecords group Beta", other.ids["groups"] ?? ""]) {
      const refused = await here.send(path, { group: typed });
      assert.deepEqual([refused.status, await assigned()], [400, before], typed);
      assert.match(refused.body, /aria-invalid="true"/);
    }
    assert.match((await here.send(path, { group: "PAYROLL <staff>" })).location ?? "", /done=assigned$/);
    assert.match((await here.send(path, { group })).location ?? "", /done=already$/);
    assert.deepEqual((await assigned()).toSorted(), [...before, group].toSorted());
    assert.match((await here.get(path)).body, /Payroll &lt;staff&gt;/);
    const tab = (await here.get(`/groups/${group}/access`)).body;
    assert.match(tab, new RegExp(`id="application-${application}"`));
    for (const wrong of [
      `/applications/${other.web.application.id}/groups`,
      `${path}/${other.ids["groups"]}/take-off`,
      `/groups/${other.ids["groups"]}/access`,
      `/groups/${other.ids["groups"]}/roles`,
    ])
      assert.equal((await here.get(wrong)).status, 404, wrong);
    assert.equal((await here.send(`${path}/${group}/take-off`)).status, 303);
    assert.deepEqual(await assigned(), before);
    assert.doesNotMatch((await here.get(`/groups/${group}/access`)).body, /id="application-/);
  });

  test("a group's roles are named with their applications", async () => {
    const group = await own.group("Approvers");
    const application = org.web.application.id;
    const role = await own.role(application, "approver");
    const none = (await here.get(`/groups/${group}/roles`)).body;
    assert.doesNotMatch(none, /id="assignment-/);
    await own.assign(role, "group", group);
    const shown = (await here.get(`/groups/${group}/roles`)).body;
    assert.match(shown, new RegExp(`/roles/${role}"`));
    assert.match(shown, new RegExp(`/applications/${application}/roles"`));
  });
});
