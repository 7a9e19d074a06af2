/** The audit log names groups and roles, and whoever they were given to. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { deleteInitialAccessToken } from "../../../core/client-registration/initial-access-tokens.ts";
import { deleteGroup } from "../../../core/groups/groups.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { type Directory, groupRef, makeDirectory, userRef } from "../../../testing/fixtures/directory.ts";
import { type SeededRecords, seedRecords } from "../../../testing/fixtures/planted-records.ts";
import { type ConsoleBrowser, consoleBrowser } from "../../../testing/probes/console-browser.ts";
import { startTestService, type TestService } from "../../../testing/test-service.ts";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: SeededRecords;
  let here: ConsoleBrowser;
  let own: Directory;
  before(async () => {
    running = await startTestService({ databaseUrl: await fresh() });
    org = await seedRecords(running.service, "Acme");
    here = await consoleBrowser(running, org);
    own = await makeDirectory(running.service, org.organisation.id);
  });
  after(async () => {
    await running.close();
    assert.deepEqual(running.errors, []);
  });

  const list = async (event: string) => (await here.get(`/audit-log?event=${event}`)).body;
  const firstEvent = async (event: string) => {
    const [, id = ""] = /id="event-([\da-f-]{36})"/.exec(await list(event)) ?? [];
    return (await here.get(`/audit-log/${id}`)).body;
  };

  test("a role that is given is named, and the group it was given to, with their pages", async () => {
    const group = await own.group("Payroll <staff>");
    const role = await own.role(org.web.application.id, "payroll-approver");
    await own.assign(role, "group", group);
    const rows = await list("role.assigned");
    assert.match(rows, new RegExp(`/roles/${role}"><bdi>payroll-approver</bdi></a>`));
    assert.match(rows, /<bdi>Payroll &lt;staff&gt;<\/bdi>/);
    const page = await firstEvent("role.assigned");
    assert.match(
      page,
      new RegExp(`/groups/${group}"><bdi>Payroll &lt;staff&gt;</bdi></a> <code>group:${group}`),
    );
    const activity = (await here.get(`/roles/${role}/activity`)).body;
    assert.match(activity, /<bdi>Payroll &lt;staff&gt;<\/bdi>/);
  });

  test("members who join a group are named, users by their address; of many, the first", async () => {
    const inner = await own.group("Inner");
    const addresses = ["a", "b", "c"].map((name) => `${name}@joins.example`);
    const users = await Promise.all(addresses.map((address) => own.user(address)));
    const group = await own.group("Outer", [groupRef(inner), ...users.map(userRef)]);
    const rows = await list("group.members-changed");
    const [row = ""] = rows.match(new RegExp(`<tr[^>]*>(?:(?!</tr>).)*/groups/${group}".*?</tr>`, "s")) ?? [];
    assert.match(row, /<bdi>Outer<\/bdi>/);
    assert.match(row, /<bdi>Inner<\/bdi>, <bdi>a@joins\.example<\/bdi>, <bdi>b@joins\.example<\/bdi>, …/);
    const page = await firstEvent("group.members-changed");
    for (const [at, id] of users.entries())
      assert.match(page, new RegExp(`/users/${id}"><bdi>${addresses[at]}</bdi></a> <code>user:${id}`));
  });

  test("a deleted group keeps the name that its deletion tells, without a link", async () => {
    const id = await own.group("Dissolved");
    await deleteGroup(running.service, { ...own.act, id });
    const rows = await list("group.deleted");
    assert.match(rows, /<bdi>Dissolved<\/bdi>/);
    assert.doesNotMatch(rows, new RegExp(`/groups/${id}"`));
  });

  test("what tokens are for, and who gets them without a secret, are named with their pages", async () => {
    for (const [event, page, name] of [
      ["resource.created", "resources", "SeededRecords Acme"],
      ["trust.created", "trusts", "repo:planted-acme/site:ref:refs/heads/main"],
      ["token-exchange-policy.created", "token-exchange", "SeededRecords exchange Acme"],
      ["client-authority.created", "client-authorities", "SeededRecords CA Acme"],
      ["authorization-detail-type.created", "authorization-detail-types", "SeededRecords detail Acme"],
      ["initial-access-token.created", "initial-access-tokens", "SeededRecords token Acme"],
    ] as const) {
      assert.match(await list(event), new RegExp(`/${page}/${org.ids[page]}"><bdi>${name}</bdi></a>`), event);
      const { body } = await here.get(`/audit-log?search=${encodeURIComponent(name)}`);
      assert.match(body, new RegExp(`/${page}/${org.ids[page]}"><bdi>`), name);
    }
  });

  test("a deleted initial access token keeps its label, without a link", async () => {
    const id = org.ids["initial-access-tokens"] ?? "";
    await deleteInitialAccessToken(running.service, { ...own.act, id });
    const rows = await list("initial-access-token.deleted");
    assert.match(rows, /<bdi>SeededRecords token Acme<\/bdi>/);
    assert.doesNotMatch(rows, new RegExp(`/initial-access-tokens/${id}"`));
  });

  test("events are found by a group's name and by a role's", async () => {
    const group = await own.group("Harbour pilots");
    const role = await own.role(org.web.application.id, "steersman");
    for (const [search, id] of [
      ["arbour pil", group],
      ["steersm", role],
    ] as const) {
      const { body } = await here.get(`/audit-log?search=${encodeURIComponent(search)}`);
      assert.match(body, new RegExp(`/${id}"><bdi>`), search);
    }
  });
});
