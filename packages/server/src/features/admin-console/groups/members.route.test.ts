/** Many members at a time: found and sorted, removed by ticking them, added from CSV after each line's fate was shown. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { listMembers } from "../../../core/groups/group-members.store.ts";
import { createGroup } from "../../../core/groups/groups.ts";
import { insertMembership } from "../../../core/users/users.store.ts";
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
  const membersOf = async (id: string) =>
    (await listMembers(db(), { orgId: own.orgId, id }, { effective: false, limit: 10_000 })).map(
      (one) => one.id,
    );
  const shown = async (group: string, query = "") => {
    const { body } = await here.get(`/groups/${group}/members?${query}`);
    return [...body.matchAll(/<tr role="row" id="member-([\da-f-]{36})"/g)].map(([, id = ""]) => id);
  };
  const tick = async (group: string, ids: readonly string[]) => {
    const { body } = await here.get(`/groups/${group}/members`);
    const form = formOfPage({ body: body.slice(body.indexOf('name="back"') - 2_000) }, { act: "remove" });
    for (const id of ids) form.append("selected", id);
    const asked = await here.post(`/groups/${group}/members/bulk`, form);
    return asked.body.includes('name="confirmed"')
      ? here.post(`/groups/${group}/members/bulk`, formOfPage(asked))
      : asked;
  };
  const preview = (group: string, list: string) => here.send(`/groups/${group}/members/import`, { list });

  test("members are found by name and type, sorted both ways, paged once each, and exported", async () => {
    const inner = await own.group("Zebra inner");
    const users = await Promise.all(
      Array.from({ length: 30 }, (_, at) => own.user(`m${String(at).padStart(2, "0")}@members.example`)),
    );
    const group = await own.group("Crowd", [groupRef(inner), ...users.map(userRef)]);
    assert.deepEqual(await shown(group, "search=M07%40"), [users[7]]);
    assert.deepEqual(await shown(group, "type=group"), [inner]);
    assert.deepEqual(await shown(group, "search=zebra"), [inner]);
    assert.equal((await shown(group, "sort=-name"))[0], inner);
    for (const sort of ["name", "-name", "added", "-added"]) {
      const { body } = await here.get(`/groups/${group}/members?sort=${sort}`);
      const [, next = ""] = /id="page-older" href="[^"]*\?([^"]*)"/.exec(body) ?? [];
      const all = [
        ...(await shown(group, `sort=${sort}`)),
        ...(await shown(group, next.replaceAll("&amp;", "&"))),
      ];
      assert.equal(new Set(all).size, 31, sort);
    }
    const file = (await here.get(`/groups/${group}/members/export?type=user`)).body;
    assert.match(file, /^id,type,name,email,addedAt\r\n/);
    assert.equal(file.trim().split("\r\n").length, 31);
  });

  test("ticked members are removed, users and groups; whoever is none is left alone", async () => {
    const inner = await own.group("Ticked inner");
    const [one, two, stranger] = [await own.user(), await own.user(), await own.user()];
    const group = await own.group("Ticked", [groupRef(inner), userRef(one), userRef(two)]);
    const done = await tick(group, [inner, one, stranger, other.user.id, "nonsense"]);
    assert.match(done.body, /2 done, 1 not\./);
    assert.deepEqual(await membersOf(group), [two]);
  });

  test("an import shows what happens to each line, and then adds whom it names, in their order", async () => {
    const [ada, bo] = [await own.user("ada@lines.example"), await own.user("bo@lines.example")];
    const team = await own.group("Lines team");
    const group = await own.group("Lines", [userRef(bo)]);
    const outer = await own.group("Lines outer", [groupRef(group)]);
    await insertMembership(db(), {
      ...{ orgId: own.orgId, homeOrgId: other.organisation.id, userId: other.user.id },
      ...{ role: "Standard", now: running.service.clock() },
    });
    const lines = ["ADA@lines.example", "bo@lines.example", "nobody@lines.example", "ada@lines.example"];
    const list = [...lines, "lines TEAM", "Lines outer", "Lines", other.user.email, "<b>"].join("\n");
    const asked = await preview(group, list);
    assert.equal(asked.status, 200);
    assert.match(asked.body, /3 members will be added\./);
    assert.match(asked.body, /6 lines left out/);
    const rowOf = (line: number) =>
      new RegExp(`id="line-${line}">[\\s\\S]*?</tr>`).exec(asked.body)?.[0] ?? "";
    assert.match(rowOf(2), /Already a member/);
    assert.match(rowOf(3), /No user has this/);
    assert.match(rowOf(4), /Occurs earlier/);
    for (const line of [6, 7]) assert.match(rowOf(line), /contain itself/, String(line));
    assert.match(rowOf(9), /&lt;b&gt;/);
    assert.deepEqual(await membersOf(group), [bo], "before it is confirmed");
    const done = await here.post(`/groups/${group}/members/import`, formOfPage(asked));
    assert.match(done.location ?? "", /\/members\?done=imported$/);
    assert.deepEqual((await membersOf(group)).sort(), [team, ada, bo, other.user.id].sort());
    assert.equal((await here.post(`/groups/${group}/members/import`, formOfPage(asked))).status, 409);
    assert.ok(outer);
  });

  test("the file of a group's members is an import for another one", async () => {
    const inner = await own.group("File inner");
    const from = await own.group("File from", [
      groupRef(inner),
      userRef(await own.user()),
      userRef(org.user.id),
    ]);
    const to = await own.group("File to");
    const list = (await here.get(`/groups/${from}/members/export`)).body;
    await here.post(`/groups/${to}/members/import`, formOfPage(await preview(to, list)));
    assert.deepEqual((await membersOf(to)).sort(), (await membersOf(from)).sort());
  });

  test("thousands of lines are one act; what cannot be read, and a list of nobody, is told at its field", async () => {
    const group = await own.group("Large");
    const users = await Promise.all(Array.from({ length: 5 }, (_, at) => own.user(`large${at}@l.example`)));
    const many = Array.from({ length: 4_990 }, (_, at) => `missing${at}@l.example`);
    const asked = await preview(group, [...many, ...users].join("\n"));
    assert.match(asked.body, /5 members will be added/);
    await here.post(`/groups/${group}/members/import`, formOfPage(asked));
    assert.deepEqual((await membersOf(group)).sort(), users.sort());
    for (const list of [
      "",
      'email\n"open',
      "x@y.example\n".repeat(5_001),
      "nobody@l.example",
      other.ids["groups"] ?? "",
    ]) {
      const refused = await preview(group, list);
      assert.equal(refused.status, 400, list.slice(0, 20));
      assert.match(refused.body, /id="list-fault"/);
    }
  });

  test("a directory's group shows its members, and neither imports nor loses any", async () => {
    const { connection } = await newScimConnection(running.service, own.orgId);
    const content = { displayName: "Theirs", description: null, externalId: null };
    const { id } = await createGroup(running.service, {
      ...{ ...own.act, content, source: "scim", connectionId: connection.id },
    });
    const page = await here.get(`/groups/${id}/members`);
    assert.doesNotMatch(page.body, /id="(member-form|members-import|bulk-remove)"/);
    assert.equal((await here.get(`/groups/${id}/members/import`)).status, 404);
    for (const rest of ["/members/import", "/members/export", "/members"])
      assert.equal((await here.get(`/groups/${other.ids["groups"]}${rest}`)).status, 404, rest);
  });
});
