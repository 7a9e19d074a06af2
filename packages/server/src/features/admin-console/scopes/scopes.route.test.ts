/** The scopes' pages: what is listed, what a form may hold, and that nobody overwrites what they have not seen. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { findApplication } from "../../../core/applications/applications.store.ts";
import { listAuditEvents } from "../../../core/audit/audit.store.ts";
import {
  createPreauthorization,
  grantByAdministrator,
  grantOrganisationConsent,
} from "../../../core/consents/consents.ts";
import { changeCustomScope } from "../../../core/scopes/custom-scopes.ts";
import { findCustomScope, listCustomScopes } from "../../../core/scopes/scopes.store.ts";
import { scopeClaims } from "../../../core/scopes/scopes.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { type SeededRecords, seedRecords } from "../../../testing/fixtures/planted-records.ts";
import { type ConsoleBrowser, consoleBrowser, formOfPage } from "../../../testing/probes/console-browser.ts";
import { makeClient, startTestService, type TestService } from "../../../testing/test-service.ts";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: SeededRecords;
  let other: SeededRecords;
  let here: ConsoleBrowser;
  before(async () => {
    running = await startTestService({ databaseUrl: await fresh() });
    org = await seedRecords(running.service, "Acme");
    other = await seedRecords(running.service, "Beta");
    here = await consoleBrowser(running, org);
  });
  after(async () => {
    await running.close();
    assert.deepEqual(running.errors, []);
  });

  const own = () => listCustomScopes(running.service.database.query, org.organisation.id);
  const scopeOf = (id: string) => findCustomScope(running.service.database.query, org.organisation.id, id);
  const planted = () => org.ids["scopes"] ?? "";
  const made = async (name: string) => (await own()).find((scope) => scope.name === name);
  const row = (number: number, name: string, from: string, what = "") => ({
    [`claim-${number}-name`]: name,
    [`claim-${number}-from`]: from,
    [`claim-${number}-what`]: what,
  });

  test("lists and searches custom scopes, and explains the standard ones", async () => {
    const list = await here.get("/scopes");
    assert.equal(list.status, 200);
    assert.ok(list.body.includes("planted-acme"));
    assert.ok(!list.body.includes("planted-beta"));
    for (const name of ["openid", "profile", "address", "offline_access"])
      assert.ok(list.body.includes(`id="standard-${name}"`), name);
    for (const claims of Object.values(scopeClaims))
      for (const claim of claims) assert.ok(list.body.includes(`<code>${claim}</code>`), claim);
    assert.match((await here.get("/scopes?search=PLANTED")).body, /planted-acme/);
    const none = await here.get("/scopes?search=%3Cscript%3E");
    assert.ok(!none.body.includes(`id="scope-${planted()}"`));
    assert.match(none.body, /value="&lt;script&gt;"/);
  });

  test("creates a scope with its claims and names its author", async () => {
    const form = {
      name: "payroll",
      displayName: "See your <pay>",
      sensitive: "on",
      ...row(0, "department", "user.attribute", "department"),
      ...row(1, "teams", "membership.groups"),
      ...row(2, "level", "static", "42"),
    };
    const answer = await here.send("/scopes/new", form);
    const scope = await made("payroll");
    assert.equal(
      answer.location,
      `${running.baseUrl}/oauth/manage/${org.organisation.id}/scopes/${scope?.id}?done=created`,
    );
    assert.equal(scope?.sensitive, true);
    assert.deepEqual(scope?.claims, [
      { name: "department", source: "user", path: "attributes.department" },
      { name: "teams", source: "membership", path: "groups" },
      { name: "level", source: "static", value: 42 },
    ]);
    const page = await here.browser.get(answer.location ?? "");
    assert.match(page.body, /See your &lt;pay&gt;/);
    assert.match(page.body, /id="last-change">[^<]*admin@acme\.example/);
    assert.match(page.body, /id="done-notice"/);
    const [event] = await listAuditEvents(running.service.database.query, org.organisation.id, 1);
    assert.deepEqual(
      [event?.action, event?.actor, event?.target, event?.address !== undefined],
      ["scope.created", `user:${org.administrator.id}`, scope?.id, true],
    );
    const kept = await here.send(`/scopes/${scope?.id}/edit`, { displayName: "Pay" });
    assert.equal(kept.status, 303, "what its form shows of the claims is what it takes");
    assert.deepEqual((await made("payroll"))?.claims, scope?.claims);
  });

  test("adds an empty row without saving", async () => {
    const typed = { name: "kept", displayName: "Kept", ...row(0, "one", "static", "x"), add: "1" };
    const page = await here.send("/scopes/new", typed);
    assert.equal(page.status, 200);
    assert.match(page.body, /id="name"[^>]*value="kept"/);
    assert.match(page.body, /id="claim-0-name"[^>]*value="one"/);
    assert.match(page.body, /id="claim-1-name"/);
    assert.equal(await made("kept"), undefined);
  });

  test("reports invalid scopes at their fields and keeps what was typed", async () => {
    const fine = { name: "fine", displayName: "Fine" };
    const faults: [Record<string, string | undefined>, string][] = [
      [{ name: "two words" }, "name"],
      [{ name: "openid" }, "name"],
      [{ name: "address" }, "name"],
      [{ name: "planted-acme" }, "name"],
      [{ displayName: undefined }, "displayName"],
      [{ displayName: "a‮b" }, "displayName"],
      [{ description: "x".repeat(501) }, "description"],
      [row(0, "iss", "static", "x"), "claim-0-name"],
      [row(0, "email", "static", "x"), "claim-0-name"],
      [row(0, "a", "user.attribute", "no spaces here"), "claim-0-what"],
      [row(0, "a", "user.password"), "claim-0-what"],
      [row(0, "a", "system.env", "HOME"), "claim-0-what"],
      [row(0, "a", "static", "null"), "claim-0-what"],
      [{ ...row(0, "a", "static", "1"), ...row(1, "a", "static", "2") }, "claim-1-name"],
    ];
    const before = (await own()).length;
    for (const [change, field] of faults) {
      const page = await here.send("/scopes/new", { ...fine, ...change });
      assert.equal(page.status, 400, JSON.stringify(change));
      assert.ok(page.body.includes(`href="#${field}"`), JSON.stringify(change));
      assert.match(page.body, new RegExp(`id="${field}"[^>]*aria-invalid="true"[^>]*autofocus`));
      if (!("displayName" in change)) assert.match(page.body, /id="displayName"[^>]*value="Fine"/);
    }
    assert.equal((await own()).length, before);
  });

  test("accepts fifty claims and rejects fifty-one", async () => {
    const rows = (count: number) =>
      Object.assign(
        {},
        ...Array.from({ length: count }, (_, index) => row(index, `c${index}`, "static", "x")),
      );
    const many = await here.send("/scopes/new", { name: "many", displayName: "Many", ...rows(50) });
    assert.equal(many.status, 303);
    assert.equal((await made("many"))?.claims.length, 50);
    const more = await here.send("/scopes/new", { name: "more", displayName: "More", ...rows(51) });
    assert.equal(more.status, 400);
  });

  test("names who changed the scope meanwhile, and saves at the second try", async () => {
    const path = `/scopes/${planted()}/edit`;
    const page = await here.get(path);
    const content = { displayName: "By another", description: "Other words" };
    const change = { orgId: org.organisation.id, id: planted(), content, actor: `user:${org.user.id}` };
    await changeCustomScope(running.service, change);
    const stale = await here.post(
      path,
      formOfPage(page, { displayName: "Mine", description: "Other words" }),
    );
    assert.equal(stale.status, 409);
    assert.match(stale.body, /Changed by user@acme\.example/);
    assert.match(stale.body, /id="displayName-now">Current value: By another/);
    assert.doesNotMatch(stale.body, /id="description-now"/);
    assert.match(stale.body, /id="displayName"[^>]*value="Mine"/);
    assert.equal((await scopeOf(planted()))?.displayName, "By another");
    const again = await here.post(path, formOfPage(stale));
    assert.equal(again.status, 303);
    assert.equal((await scopeOf(planted()))?.displayName, "Mine");
    for (const seen of ["", "x", "1"]) {
      const forged = await here.post(path, formOfPage(await here.get(path), { seen, displayName: "Forged" }));
      assert.equal(forged.status, 409, seen);
    }
    assert.equal((await scopeOf(planted()))?.displayName, "Mine");
  });

  test("deletion asks for the name and lists the applications that may request the scope", async () => {
    await here.send("/scopes/new", { name: "doomed", displayName: "Doomed" });
    const { id = "" } = (await made("doomed")) ?? {};
    const { application } = await makeClient(running.service, org.organisation, {
      allowedScopes: ["openid", "doomed"],
      redirectUris: ["https://doomed.example/callback"],
    });
    await makeClient(running.service, org.organisation, {
      description: "doomed",
      redirectUris: ["https://doomed.example/callback"],
    });
    const question = await here.get(`/scopes/${id}/delete`);
    assert.ok(question.body.includes(`/applications/${application.id}"`));
    assert.equal(question.body.match(/\/applications\/[0-9a-f-]{36}/g)?.length, 1);
    assert.equal(
      (await here.post(`/scopes/${id}/delete`, formOfPage(question, { name: "doom" }))).status,
      400,
    );
    assert.ok(await scopeOf(id));
    const done = await here.post(`/scopes/${id}/delete`, formOfPage(question, { name: " doomed " }));
    assert.match(done.location ?? "", /\/scopes\?done=deleted$/);
    assert.equal(await scopeOf(id), undefined);
  });

  /** An application with the scope, which a user, an administrator and a pre-authorization granted. */
  const usedBy = async (scope: string) => {
    const { application } = await makeClient(running.service, org.organisation, {
      ...{ allowedScopes: ["openid", scope], redirectUris: ["https://uses.example/callback"] },
    });
    const given = { application, scopes: ["openid", scope], actor: "test" };
    await grantByAdministrator(running.service, { ...given, userId: org.user.id });
    await grantOrganisationConsent(running.service, given);
    await createPreauthorization(running.service, given);
    return application;
  };

  test("whoever uses a scope is named on its page and before it is deleted, also among ticked ones", async () => {
    for (const name of ["uses:one", "uses:none"]) await here.send("/scopes/new", { name, displayName: name });
    const [one, none] = [await made("uses:one"), await made("uses:none")];
    const application = await usedBy("uses:one");
    const link = `/applications/${application.id}"`;
    const page = (await here.get(`/scopes/${one?.id}/applications`)).body;
    const question = (await here.get(`/scopes/${one?.id}/delete`)).body;
    for (const body of [page, question]) {
      assert.ok(body.includes(link));
      assert.ok(body.includes(`(${org.user.email})`), "the user who consented");
    }
    assert.match(question, /Consents<\/b> \(2\)[\s\S]*Pre-authorisations<\/b> \(1\)/);
    assert.match(
      (await here.get(`/scopes/${none?.id}/delete`)).body,
      /No application, consent or pre-authorisation/,
    );
    const form = formOfPage(await here.get("/scopes?search=uses:"), { act: "remove" });
    for (const id of [one?.id, none?.id]) form.append("selected", id ?? "");
    const asked = await here.post("/scopes/bulk", form);
    assert.match(asked.body, new RegExp(`uses:one \\(used by ${application.name}, 2 consents\\)`));
    assert.doesNotMatch(asked.body, /uses:none \(/);
    await here.post("/scopes/bulk", formOfPage(asked, { name: org.organisation.name }));
    assert.equal(await made("uses:one"), undefined);
    const left = await findApplication(running.service.database.query, org.organisation.id, application.id);
    assert.deepEqual(left?.settings.allowedScopes, ["openid"]);
  });

  test("a scope that nobody defined is refused in an application's settings and warned about where one has it", async () => {
    const notice = async () =>
      /id="undefined-scopes"[\s\S]*?<section/.exec((await here.get("/scopes")).body)?.[0] ?? "";
    assert.doesNotMatch(await notice(), /older:scope/);
    const { application } = await makeClient(running.service, org.organisation, {
      ...{ allowedScopes: ["openid"], redirectUris: ["https://older.example/callback"] },
    });
    const rest = `/applications/${application.id}/access`;
    const refused = await here.send(rest, { otherScopes: "older:scope" });
    assert.equal(refused.status, 400);
    assert.match(refused.body, /id="allowedScopes-fault"[^>]*>[^<]*older:scope/);
    // As it was stored before there was the rule.
    const settings = JSON.stringify({ ...application.settings, allowedScopes: ["openid", "older:scope"] });
    await running.service.database.query
      .updateTable("application")
      .set({ settings })
      .where("id", "=", application.id)
      .execute();
    assert.match(await notice(), new RegExp(`older:scope[\\s\\S]*${rest}"`));
    await here.send("/scopes/new", { name: "older:scope", displayName: "Older" });
    assert.doesNotMatch(await notice(), /older:scope/);
  });

  test("older scopes with a reserved name, and those that tell a reserved claim, are warned about", async () => {
    const notice = async () =>
      /id="reserved-names"[\s\S]*?<section/.exec((await here.get("/scopes")).body)?.[0] ?? "";
    assert.equal(await notice(), "");
    for (const name of ["older-name", "older-claim"])
      await here.send("/scopes/new", { name, displayName: name });
    const [named, telling] = [await made("older-name"), await made("older-claim")];
    // As they were stored before there was the rule.
    const claims = JSON.stringify([{ name: "roles", source: "static", value: "x" }]);
    const scopes = running.service.database.query.updateTable("custom_scope");
    await scopes
      .set({ name: "signet:older" })
      .where("id", "=", named?.id ?? "")
      .execute();
    await scopes
      .set({ claims })
      .where("id", "=", telling?.id ?? "")
      .execute();
    assert.match(await notice(), new RegExp(`/scopes/${named?.id}"><code>signet:older`));
    assert.match(
      await notice(),
      new RegExp(`/scopes/${telling?.id}"><code>older-claim</code></a> – <code>roles`),
    );
  });

  test("answers 404 for another organisation's scope", async () => {
    const id = other.ids["scopes"] ?? "";
    for (const path of [`/scopes/${id}`, `/scopes/${id}/edit`, `/scopes/${id}/delete`, "/scopes/x"])
      assert.equal((await here.get(path)).status, 404, path);
    const { csrf } = (await here.get("/scopes/new")).hidden;
    const sent = await here.post(`/scopes/${id}/edit`, { csrf: csrf ?? "", displayName: "Theirs" });
    assert.equal(sent.status, 404);
  });
});
