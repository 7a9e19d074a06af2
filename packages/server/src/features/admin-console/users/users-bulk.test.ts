/** Acts on several users, and users added by the list: by the rules of the single acts, once, and within the organisation. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { listAuditEvents } from "../../../core/audit/audit.store.ts";
import { findUser, findUserByEmail, insertMembership } from "../../../core/users/users.store.ts";
import { createUser } from "../../../core/users/users.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import type { TestPage } from "../../../testing/fakes/browser.ts";
import { MAIL_ENV, mailsTo } from "../../../testing/fakes/mailbox.ts";
import {
  type AdministeredOrganisation,
  administeredOrganisation,
} from "../../../testing/fixtures/administered-organisation.ts";
import {
  type ConsoleBrowser,
  consoleBrowser,
  formOfPage,
  plain,
} from "../../../testing/probes/console-browser.ts";
import { PASSWORD, startTestService, type TestService } from "../../../testing/test-service.ts";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: AdministeredOrganisation;
  let other: AdministeredOrganisation;
  let here: ConsoleBrowser;
  let count = 0;
  before(async () => {
    running = await startTestService({ databaseUrl: await fresh(), env: MAIL_ENV });
    org = await administeredOrganisation(running.service, "Acme");
    other = await administeredOrganisation(running.service, "Beta");
    here = await consoleBrowser(running, org);
  });
  after(async () => {
    await running.close();
    assert.deepEqual(running.errors, []);
  });

  const db = () => running.service.database.query;
  const orgId = () => org.organisation.id;
  const make = async (role: "Standard" | "Administrator" = "Standard"): Promise<string> => {
    const person = {
      email: `bulk${++count}@acme.example`,
      password: PASSWORD,
      firstname: "Bulk",
      surname: "",
    };
    const given = { ...person, organisation: org.organisation, role, emailVerified: true, actor: "test" };
    return createUser(running.service, given);
  };
  const roleOf = async (id: string) => (await findUser(db(), orgId(), id))?.role;
  const isDisabled = async (id: string) => (await findUser(db(), orgId(), id))?.disabledAt !== null;
  /** The list's form, and then the form of the page that asks. */
  const ask = async (act: string, ids: readonly string[]) => {
    const form = formOfPage(await here.get("/users?search=bulk&size=100"), { act });
    for (const id of ids) form.append("selected", id);
    return here.post("/users/bulk", form);
  };
  const perform = async (act: string, ids: readonly string[], typed: Record<string, string> = {}) =>
    here.post("/users/bulk", formOfPage(await ask(act, ids), typed));

  test("asks before it does anything, and then does each act as the user's page does it", async () => {
    const ids = [await make(), await make(), await make()];
    const asked = await ask("disable", ids);
    assert.equal(asked.status, 200);
    assert.match(asked.body, /Disable 3 users\?/);
    assert.deepEqual(await Promise.all(ids.map(isDisabled)), [false, false, false]);
    const done = await here.post("/users/bulk", formOfPage(asked));
    assert.match(done.body, /3 done\./);
    assert.deepEqual(await Promise.all(ids.map(isDisabled)), [true, true, true]);
    const events = await listAuditEvents(db(), orgId(), 20);
    for (const id of ids)
      assert.ok(events.some(({ action, target }) => action === "user.disabled" && target === id));
    assert.match(done.body, /href="[^"]*\/users\?search=bulk&amp;size=100"/, "back to the list as it was");
    assert.match((await perform("enable", ids)).body, /3 done\./);
    assert.deepEqual(await Promise.all(ids.map(isDisabled)), [false, false, false]);
  });

  test("the page of what was done offers the opposite, for those that it was done to, and asks again", async () => {
    const [changed, already] = [await make(), await make()];
    await perform("disable", [already]);
    const opposites = [
      ["disable", "enable", isDisabled],
      ["makeAdministrator", "makeMember", async (id: string) => (await roleOf(id)) === "Administrator"],
    ] as const;
    for (const [act, opposite, isSo] of opposites) {
      const done = await perform(act, [changed, ...(act === "disable" ? [already] : [])]);
      const back = formOfPage(done);
      assert.deepEqual([back.get("act"), back.getAll("selected")], [opposite, [changed]]);
      assert.ok(await isSo(changed));
      const asked = await here.post("/users/bulk", back);
      assert.ok(await isSo(changed), "asked first");
      await here.post("/users/bulk", formOfPage(asked));
      assert.equal(await isSo(changed), false);
    }
    assert.ok(await isDisabled(already), "was so before");
    assert.doesNotMatch((await perform("signOut", [changed])).body, /id="bulk-undo"/);
  });

  test("does nothing to other organisations' users, to one's own account, and nothing twice", async () => {
    const id = await make();
    const theirs = other.user.id;
    const asked = await ask("disable", [id, theirs, org.administrator.id, "nonsense"]);
    assert.ok(!asked.body.includes(other.user.email));
    const form = formOfPage(asked);
    const done = await here.post("/users/bulk", form);
    assert.match(done.body, /1 done, 1 not\./);
    assert.equal(await isDisabled(id), true);
    assert.equal((await findUser(db(), other.organisation.id, theirs))?.disabledAt, null);
    assert.equal(await isDisabled(org.administrator.id), false);
    assert.equal((await here.post("/users/bulk", form)).status, 409, "the form was sent before");
  });

  test("never removes or demotes the last administrator, also of two bulk acts at the same time", async () => {
    const [one, two] = [await make("Administrator"), await make("Administrator")];
    const demoted = await perform("makeMember", [one, two, org.administrator.id]);
    assert.match(demoted.body, /2 done, 1 not\./);
    assert.equal((await findUser(db(), orgId(), org.administrator.id))?.role, "Administrator");
    assert.match((await perform("makeAdministrator", [one, two])).body, /2 done\./);
    const forms = [await ask("disable", [one, two]), await ask("disable", [two, one])].map((page) =>
      formOfPage(page),
    );
    const pages = await Promise.all(forms.map((form) => here.post("/users/bulk", form)));
    assert.deepEqual(
      pages.map(({ status }) => status),
      [200, 200],
    );
    const events = (await listAuditEvents(db(), orgId(), 50)).filter(
      ({ action, target }) => action === "user.disabled" && (target === one || target === two),
    );
    assert.equal(events.length, 2, "each once");
  });

  test("removes after the organisation's name was typed: accounts are deleted, guests leave", async () => {
    const id = await make();
    const guest = { orgId: orgId(), userId: other.user.id, homeOrgId: other.organisation.id };
    await insertMembership(db(), { ...guest, role: "Standard", now: 1 });
    const wrong = await perform("remove", [id, other.user.id], { name: "Beta" });
    assert.equal(wrong.status, 400);
    assert.ok(await findUser(db(), orgId(), id));
    const done = await perform("remove", [id, other.user.id], { name: "Acme" });
    assert.match(done.body, /2 done\./);
    assert.equal(await findUser(db(), orgId(), id), undefined);
    assert.equal(await findUser(db(), orgId(), other.user.id), undefined);
    assert.ok(await findUser(db(), other.organisation.id, other.user.id), "at home the account stays");
  });

  test("needs the page's token, a known act and a selection", async () => {
    const id = await make();
    const forged = new URLSearchParams({ act: "disable", selected: id, confirmed: "yes", once: "x" });
    assert.equal((await here.post("/users/bulk", forged)).status, 403);
    const form = formOfPage(await here.get("/users?search=bulk"), { act: "toString", selected: id });
    assert.equal((await here.post("/users/bulk", form)).status, 303);
    form.set("act", "disable");
    form.delete("selected");
    assert.equal((await here.post("/users/bulk", form)).status, 303);
    assert.equal(await isDisabled(id), false);
  });

  test("sorts by email both ways, remembers the page size, and pages back", async () => {
    for (let index = 0; index < 30; index++) await make();
    const rows = (page: TestPage) =>
      [...page.body.matchAll(/id="user-([0-9a-f-]{36})"/g)].map(([, id]) => id ?? "");
    const first = await here.get("/users?search=bulk&sort=email");
    assert.match(first.body, /aria-sort="ascending"><a class="sort"/);
    const total = Number(/1–25 of (\d+)/.exec(first.body)?.[1]);
    assert.ok(total >= 30);
    const next = plain(/id="page-older" href="([^"]+)"/.exec(first.body)?.[1] ?? "");
    const second = await here.browser.get(running.baseUrl + next);
    assert.match(second.body, new RegExp(`26–${total} of ${total}`));
    assert.ok(rows(second).every((id) => !rows(first).includes(id)));
    const back = plain(/id="page-previous" href="([^"]+)"/.exec(second.body)?.[1] ?? "");
    const again = await here.browser.get(running.baseUrl + back);
    assert.deepEqual(rows(again), rows(first));
    assert.match(again.body, /1–25 of/);
    const whole = await here.get("/users?search=bulk&sort=-email&size=100");
    assert.deepEqual(rows(whole).toReversed(), [...rows(first), ...rows(second)]);
    for (const odd of ["sort=password", "after=x.y", "before=..", "size=7&from=-1"])
      assert.equal((await here.get(`/users?${odd}`)).status, 200);
  });

  test("imports a CSV after showing it, all or nothing, once", async () => {
    const taken = (await findUser(db(), orgId(), await make()))?.email ?? "";
    const faulty = await here.send("/users/import", { list: `email\nnew1@acme.example\n${taken}\nnonsense` });
    assert.equal(faulty.status, 400);
    assert.match(faulty.body, /Line 3:[\s\S]*already exists[\s\S]*Line 4:/);
    assert.ok(faulty.body.includes("new1@acme.example"), "what was pasted stays");
    const list = "email;firstname;role\nnew1@acme.example;<b>;administrator\nnew2@acme.example;=1+1;";
    const shown = await here.send("/users/import", { list });
    assert.equal(shown.status, 200);
    assert.match(shown.body, /&lt;b&gt;/);
    assert.equal(await findUserByEmail(db(), orgId(), "new1@acme.example"), undefined);
    const form = formOfPage(shown);
    const answers = await Promise.all([here.post("/users/import", form), here.post("/users/import", form)]);
    assert.deepEqual(answers.map(({ status }) => status).sort(), [303, 409]);
    const found = await findUserByEmail(db(), orgId(), "new1@acme.example");
    assert.deepEqual([found?.user.role, found?.passwordHash], ["Administrator", null]);
    assert.deepEqual(await mailsTo(running.service, "new1@acme.example"), []);
    assert.match((await here.get("/users?done=imported")).body, /Users imported\./);
  });

  test("creates nobody when another request has created one of them meanwhile", async () => {
    const list = "email\nrace1@acme.example\nrace2@acme.example";
    const form = formOfPage(await here.send("/users/import", { list }));
    const other = { email: "race2@acme.example", password: PASSWORD, firstname: "", surname: "" };
    const rest = {
      organisation: org.organisation,
      role: "Standard",
      emailVerified: true,
      actor: "test",
    } as const;
    await createUser(running.service, { ...other, ...rest });
    assert.equal((await here.post("/users/import", form)).status, 400);
    assert.equal(await findUserByEmail(db(), orgId(), "race1@acme.example"), undefined);
  });

  test("invites pasted addresses, and skips members and duplicates", async () => {
    const member = (await findUser(db(), orgId(), await make()))?.email ?? "";
    const list = `paste1@acme.example, Paste2@acme.example;paste2@acme.example\n${member}`;
    const shown = await here.send("/users/invite", { list });
    assert.match(shown.body, /2 users will be invited\./);
    const ids = [...shown.body.matchAll(/\sid="([^"]*)"/g)].map(([, id]) => id);
    assert.equal(new Set(ids).size, ids.length, "no id twice, where a line has several");
    assert.match(shown.body, /2 addresses skipped/);
    assert.equal((await here.post("/users/invite", formOfPage(shown))).status, 303);
    for (const email of ["paste1@acme.example", "Paste2@acme.example"])
      assert.equal((await mailsTo(running.service, email)).length, 1, email);
    const many = Array.from({ length: 201 }, (_, index) => `m${index}@acme.example`).join("\n");
    const refused = await here.send("/users/invite", { list: many });
    assert.equal(refused.status, 400);
    assert.match(refused.body, /At most 200 users/);
  });
});
