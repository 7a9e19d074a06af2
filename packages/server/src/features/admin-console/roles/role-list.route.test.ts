/** The list of roles: of every application and of the organisation itself, whose built-in ones are shown and stay. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { createApplication } from "../../../core/applications/applications.ts";
import { listRoles } from "../../../core/roles/roles.store.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { type Directory, makeDirectory } from "../../../testing/fixtures/directory.ts";
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

  const db = () => running.service.database.query;
  const rolesOf = (applicationId: string | null) =>
    listRoles(db(), own.orgId, { applicationId, sort: "key", limit: 100, isDescending: false });
  const application = async (name: string) =>
    (await createApplication(running.service, { ...own.act, name, clientType: "confidential" })).id;
  const shownIn = (body: string): string[] =>
    [...body.matchAll(/<tr role="row" id="role-([\da-f-]{36})"/g)].map(([, id = ""]) => id);
  const list = async (query = "", rest = "/roles") => shownIn((await here.get(`${rest}?${query}`)).body);

  /** Ticks a role where another one is shown: its list's form, and then the form of the page that asks, if it does. */
  const remove = async (id: string, rest: string) => {
    const form = formOfPage(await here.get(rest), { act: "remove" });
    form.append("selected", id);
    const asked = await here.post(`${rest}/bulk`, form);
    if (!asked.body.includes('name="confirmed"')) return asked;
    return here.post(`${rest}/bulk`, formOfPage(asked, { name: org.organisation.name }));
  };

  test("lists roles of applications and of the organisation, found by name, key, application and ID", async () => {
    const ledger = await application("Ledger 2000");
    const reader = await own.role(ledger, "ledger-reader", ["a:b", "c:d"]);
    const owner = await own.role(null, "data-owner");
    await own.assign(reader, "user", org.user.id);
    const all = await list("size=100");
    for (const id of [reader, owner, org.ids["roles"] ?? ""]) assert.ok(all.includes(id), id);
    assert.ok(!all.includes(other.ids["roles"] ?? ""));
    assert.deepEqual(await list("search=ER-READ"), [reader]);
    assert.deepEqual(await list("search=ledger+2000"), [reader]);
    assert.deepEqual(await list(`search=${owner}`), [owner]);
    assert.deepEqual(await list("search=%25"), []);
    const ofOrganisation = await list("of=organisation");
    assert.equal(ofOrganisation.length, 3);
    assert.ok(!ofOrganisation.includes(reader));
    assert.ok(!(await list("of=application")).includes(owner));
    const { body } = await here.get("/roles?search=ledger-reader");
    assert.match(body, /2 permissions[\s\S]*1 assignment</);
    assert.match(body, new RegExp(`/applications/${ledger}/roles"><bdi>Ledger 2000</bdi>`));
  });

  test("sorts by name and by age, pages each role once, and exports what is shown", async () => {
    const app = await application("Many");
    for (let at = 0; at < 30; at++) await own.role(app, `many-${String(at).padStart(2, "0")}`);
    for (const sort of ["name", "-name", "created", "-created"]) {
      const first = await here.get(`/roles?search=many-&sort=${sort}`);
      const [, older = ""] = /id="page-older" href="[^"]*\?([^"]*)"/.exec(first.body) ?? [];
      const seen = [...shownIn(first.body), ...(await list(older.replaceAll("&amp;", "&")))];
      assert.equal(new Set(seen).size, 30, sort);
    }
    const [first] = await list("search=many-&sort=-name");
    assert.equal((await rolesOf(app)).at(-1)?.id, first);
    const { body } = await here.get("/roles/export?search=many-0");
    assert.equal(body.trim().split("\r\n").length, 11);
    assert.match(body, /^id,application,applicationId,key,name,/);
    assert.match((await here.get(`/applications/${app}/roles/export`)).body, /many-29/);
  });

  test("an application's tab lists its roles alone, and deletes no other application's", async () => {
    const [mine, theirs] = [await application("Mine"), await application("Theirs")];
    const role = await own.role(mine, "mine");
    const foreign = await own.role(theirs, "theirs");
    const rest = `/applications/${mine}/roles`;
    assert.deepEqual(await list("", rest), [role]);
    await remove(foreign, rest);
    assert.equal((await rolesOf(theirs)).length, 1);
    assert.match((await remove(role, rest)).body, /1 done\./);
    assert.deepEqual(await rolesOf(mine), []);
  });

  test("built-in roles say who has them, and are neither edited, deleted nor assigned", async () => {
    const builtIn = (await rolesOf(null)).filter((role) => role.builtIn);
    assert.deepEqual(builtIn.map(({ key }) => key).sort(), ["Administrator", "Standard"]);
    const [administrator, standard] = ["Administrator", "Standard"].map((key) =>
      builtIn.find((role) => role.key === key),
    );
    assert.ok(administrator && standard);
    const holders = (await here.get(`/roles/${administrator.id}/assignments`)).body;
    assert.match(holders, new RegExp(`id="holder-${org.administrator.id}"`));
    assert.doesNotMatch(holders, new RegExp(`id="holder-${org.user.id}"|id="assignment-form"`));
    assert.match(holders, /\/users\?role=Administrator"/);
    assert.match(
      (await here.get(`/roles/${standard.id}/assignments`)).body,
      new RegExp(`id="holder-${org.user.id}"`),
    );
    for (const { id } of builtIn) {
      const page = await here.get(`/roles/${id}`);
      assert.equal(page.status, 200);
      assert.doesNotMatch(page.body, /id="role-edit"|id="role-delete"/);
      for (const rest of ["/edit", "/delete"])
        assert.equal((await here.get(`/roles/${id}${rest}`)).status, 404);
      const fields = { subjectType: "user", subject: org.user.email };
      assert.equal((await here.send(`/roles/${id}/assignments`, fields)).status, 404);
      await remove(id, "/roles");
    }
    assert.equal((await rolesOf(null)).filter((role) => role.builtIn).length, 2);
  });

  test("a new role belongs to the application that is typed, or to the organisation itself", async () => {
    const app = await application("Typed");
    await application("Doubled");
    await application("Doubled");
    const fields = { key: "typed", name: "Typed", permissions: "" };
    for (const wrong of ["Nobody", "Doubled", other.ids["applications"] ?? ""]) {
      const refused = await here.send("/roles/new", { ...fields, application: wrong });
      assert.equal(refused.status, 400, wrong);
      assert.match(refused.body, /id="application-fault"/);
    }
    for (const named of ["Typed", ""])
      assert.match(
        (await here.send("/roles/new", { ...fields, application: named })).location ?? "",
        /created$/,
      );
    assert.deepEqual(
      (await rolesOf(app)).map(({ key }) => key),
      ["typed"],
    );
    const own = (await rolesOf(null)).find(({ key }) => key === "typed");
    assert.ok(own);
    const deleted = await here.send(`/roles/${own.id}/delete`, { name: "Typed" });
    assert.match(deleted.location ?? "", /\/roles\?done=deleted$/);
  });

  test("whether somebody has a role of the organisation itself is answered without an application", async () => {
    const role = await own.role(null, "keeper", ["archive:open"]);
    const ask = async (fields: Record<string, string>) =>
      (await here.get(`/access-check?${new URLSearchParams({ subject: org.user.email, ...fields })}`)).body;
    const question = { ask: "permission", value: "archive:open" };
    assert.match(await ask(question), /id="why-answer"[\s\S]*No</);
    await own.assign(role, "user", org.user.id);
    assert.match(await ask(question), /id="why-paths"/);
    assert.match(await ask({ ask: "role", value: "Standard" }), /id="why-paths"/);
    assert.match(await ask({ ask: "use" }), /id="application-fault"/);
  });
});
