/** The roles' pages: who has a role, why somebody may, and what neither a form nor a typed address can do. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { createApplication } from "../../../core/applications/applications.ts";
import { listAssignments } from "../../../core/roles/assignments.store.ts";
import { findRole } from "../../../core/roles/roles.store.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { type Directory, groupRef, makeDirectory, userRef } from "../../../testing/fixtures/directory.ts";
import { type SeededRecords, seedRecords } from "../../../testing/fixtures/planted-records.ts";
import { makeSystemAccount } from "../../../testing/fixtures/system-account.ts";
import { type ConsoleBrowser, consoleBrowser } from "../../../testing/probes/console-browser.ts";
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
  const find = (id: string) => findRole(db(), { orgId: own.orgId, id });
  const subjectsOf = async (roleId: string) =>
    (await listAssignments(db(), own.orgId, { of: { roleId }, limit: 100, isDescending: false })).map(
      ({ subjectType, subjectId }) => `${subjectType}:${subjectId}`,
    );
  const application = (name: string, access: "everyone" | "assigned" = "everyone") =>
    createApplication(running.service, {
      ...own.act,
      name,
      clientType: "confidential",
      settings: { access },
    });

  test("a role is created with its permissions, changed, and deleted by its name", async () => {
    const { id } = await application("Ledger");
    const rest = `/applications/${id}/roles/new`;
    const faults = await here.send(rest, { key: "Not A Key", name: "", permissions: "read" });
    assert.equal(faults.status, 400);
    for (const field of ["key", "name", "permissions"])
      assert.match(faults.body, new RegExp(`id="${field}-fault"`));
    const typed = { key: "reader", name: "Reader", permissions: "ledger:read\nledger:list" };
    const made = await here.send(rest, typed);
    assert.equal(made.status, 303, made.body);
    const roleId = /roles\/([0-9a-f-]{36})/.exec(made.location ?? "")?.[1] ?? "";
    assert.deepEqual((await find(roleId))?.permissions, ["ledger:read", "ledger:list"]);
    assert.match((await here.send(rest, typed)).body, /id="key-fault"/);
    assert.match((await here.get(`/applications/${id}/roles`)).body, /Reader[\s\S]*2 permissions/);

    await here.send(`/roles/${roleId}/edit`, { name: "Auditor", permissions: "ledger:read", key: "another" });
    const role = await find(roleId);
    assert.deepEqual([role?.key, role?.name, role?.permissions], ["reader", "Auditor", ["ledger:read"]]);
    assert.equal((await here.send(`/roles/${roleId}/delete`, { name: "Reader" })).status, 400);
    const deleted = await here.send(`/roles/${roleId}/delete`, { name: "Auditor" });
    assert.match(deleted.location ?? "", /\/roles\?done=roleDeleted$/);
    assert.equal(await find(roleId), undefined);
  });

  test("users, groups, applications and service accounts get a role by address, name or ID, and lose it", async () => {
    const { id, name } = await application("Payments");
    const roleId = await own.role(id, "payer");
    const group = await own.group("Cashiers");
    const account = await makeSystemAccount(running.service, org);
    const rest = `/roles/${roleId}/assignments`;
    const typed = [
      { subjectType: "user", subject: org.user.email.toUpperCase() },
      { subjectType: "group", subject: "CASHIERS" },
      { subjectType: "application", subject: name },
      { subjectType: "systemAccount", subject: account.id },
    ];
    for (const fields of typed) assert.equal((await here.send(rest, fields)).status, 303, fields.subject);
    const expected = [
      `user:${org.user.id}`,
      `group:${group}`,
      `application:${id}`,
      `systemAccount:${account.id}`,
    ];
    assert.deepEqual(await subjectsOf(roleId), expected);
    assert.match((await here.send(rest, typed[0])).location ?? "", /done=already/);
    const shown = await here.get(rest);
    for (const text of [org.user.email, "Cashiers", "Payments"]) assert.ok(shown.body.includes(text), text);

    const [first] = await listAssignments(db(), own.orgId, { of: { roleId }, limit: 1, isDescending: false });
    assert.equal((await here.send(`${rest}/${first?.id}/remove`)).status, 303);
    assert.deepEqual(await subjectsOf(roleId), expected.slice(1));
  });

  test("what the organisation does not have gets no role, and a name that two have is asked for by its ID", async () => {
    const { id } = await application("Twins");
    const roleId = await own.role(id, "twin");
    const rest = `/roles/${roleId}/assignments`;
    const theirs = other.ids["groups"] ?? "";
    const one = await application("Same name");
    await application("Same name");
    const wrong = [
      { subjectType: "user", subject: other.user.email },
      { subjectType: "group", subject: theirs },
      { subjectType: "group", subject: "" },
      { subjectType: "application", subject: "Same name" },
    ];
    for (const fields of wrong) {
      const page = await here.send(rest, fields);
      assert.equal(page.status, 400, fields.subject);
      assert.match(page.body, /id="subject-fault"/);
    }
    assert.deepEqual(await subjectsOf(roleId), []);
    assert.equal((await here.send(rest, { subjectType: "application", subject: one.id })).status, 303);
    assert.deepEqual(await subjectsOf(roleId), [`application:${one.id}`]);
  });

  test("says by which groups and role a user has a permission, and why another has it not", async () => {
    const { id, name } = await application("Archive", "assigned");
    const roleId = await own.role(id, "archivist", ["archive:open"]);
    const inner = await own.group("Night archive", [userRef(org.user.id)]);
    const outer = await own.group("Archive staff", [groupRef(inner)]);
    await own.assign(roleId, "group", outer);
    const ask = (more: Record<string, string>) =>
      here.get(
        `/access-check?${new URLSearchParams({ subject: org.user.email, application: name, ...more })}`,
      );
    const refused = await ask({ ask: "permission", value: "archive:open" });
    assert.match(refused.body, /Only assigned users/);
    await here.send(`/applications/${id}/users`, { email: org.user.email });
    const allowed = await ask({ ask: "permission", value: "archive:open" });
    const steps = /id="why-paths"[\s\S]*?<\/ol>/.exec(allowed.body)?.[0] ?? "";
    assert.match(
      steps,
      new RegExp(`${org.user.id}[\\s\\S]*${inner}[\\s\\S]*${outer}[\\s\\S]*${roleId}[\\s\\S]*archive:open`),
    );
    assert.match((await ask({ ask: "permission", value: "archive:burn" })).body, /No role leads there/);
    assert.match((await ask({ ask: "role", value: "archivist" })).body, /id="why-paths"/);
    assert.match((await ask({ ask: "use" })).body, /id="why-paths"/);
  });

  test("a question about what is not there is told at its field", async () => {
    const { name } = await application("Questions");
    const ask = (fields: Record<string, string>) => here.get(`/access-check?${new URLSearchParams(fields)}`);
    const good = { subject: org.user.email, application: name };
    const wrong: readonly (readonly [string, Record<string, string>])[] = [
      ["subject", { ...good, subject: other.user.email }],
      ["application", { ...good, application: other.ids["applications"] ?? "" }],
      ["value", { ...good, ask: "role", value: "nobody" }],
      ["value", { ...good, ask: "permission", value: "nothing" }],
    ];
    for (const [field, fields] of wrong) {
      const page = await ask(fields);
      assert.equal(page.status, 200);
      assert.match(page.body, new RegExp(`id="${field}-fault"`), JSON.stringify(fields));
      assert.doesNotMatch(page.body, /id="why-answer"/);
    }
    assert.doesNotMatch((await here.get("/access-check")).body, /-fault"/, "before anything is asked");
  });

  test("a role of another organisation has no page here", async () => {
    const theirs = other.ids["roles"] ?? "";
    for (const rest of ["", "/edit", "/delete", "/assignments", "/activity"])
      assert.equal((await here.get(`/roles/${theirs}${rest}`)).status, 404, rest);
    for (const rest of ["", "/new", "/export", "/bulk"])
      assert.equal((await here.get(`/applications/${other.ids["applications"]}/roles${rest}`)).status, 404);
  });
});
