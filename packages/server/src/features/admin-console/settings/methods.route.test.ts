/** The editor of sign-in methods: its preview, and what would turn away whoever saves it. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { listAuditEvents } from "../../../core/audit/audit.store.ts";
import { findOrganisation } from "../../../core/organisations/organisations.store.ts";
import { changeOrganisationSettings } from "../../../core/organisations/organisations.ts";
import { deletePasskeys } from "../../../core/second-factors/passkeys/passkeys.store.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { testBrowser } from "../../../testing/fakes/browser.ts";
import { quickPasswords } from "../../../testing/fakes/quick-passwords.ts";
import { giveAuthenticator, givePasskey, showFactor } from "../../../testing/fixtures/factors.ts";
import { type SeededRecords, seedRecords } from "../../../testing/fixtures/planted-records.ts";
import { follow, logIn } from "../../../testing/fixtures/visit.ts";
import { type ConsoleBrowser, consoleBrowser, formOfPage } from "../../../testing/probes/console-browser.ts";
import { startTestService, type TestService } from "../../../testing/test-service.ts";

const PATH = "/settings/sign-in-methods";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: SeededRecords;
  let here: ConsoleBrowser;
  before(async () => {
    running = await startTestService({ databaseUrl: await fresh(), passwords: quickPasswords });
    org = await seedRecords(running.service, "Acme");
    here = await consoleBrowser(running, org);
  });
  after(() => running.close());

  const stored = async () => {
    const found = await findOrganisation(running.service.database.query, org.organisation.id);
    const { signInMethods, secondFactorMethods } = found?.settings ?? {};
    return [signInMethods, secondFactorMethods];
  };
  const faultOf = async (typed: Record<string, string | undefined>) => {
    const page = await here.send(PATH, typed);
    assert.equal(page.status, 400);
    return /class="fault-links"><li><a href="#([^"]+)"/.exec(page.body)?.[1];
  };
  const chosen = (method1 = "", method2 = "", method3 = "", method4 = "") => ({
    ...{ method1, method2, method3, method4 },
  });
  const UNTOUCHED = [
    ["password", "passkey"],
    ["totp", "passkey"],
  ];

  test("previews the order as it is chosen, and stores nothing", async () => {
    const draft = async (...places: string[]) => {
      const form = formOfPage(await here.get(PATH), chosen(...places));
      const { status, body } = await here.post(`${PATH}/preview`, form);
      assert.equal(status, 200);
      assert.doesNotMatch(body, /<script/);
      return body;
    };
    const first = await draft("passkey", "password");
    assert.ok(first.indexOf('id="passkey-submit"') < first.indexOf('id="login-submit"'));
    assert.match(await draft("passkey"), /id="without-passkey"/);
    assert.doesNotMatch(await draft("password"), /id="passkey-submit"/);
    assert.match(await draft("password", "", "emailCode"), /id="email"/);
    assert.doesNotMatch(await draft("password", "emailCode"), /id="password"/);
    assert.doesNotMatch(await draft("<script>"), /id="without-passkey"/);
    assert.deepEqual(await stored(), UNTOUCHED);
  });

  test("refuses what would turn the administrator away, and what is no choice", async () => {
    for (const places of [["passkey"], ["totp"], ["password", "password"], ["", "", "", ""]])
      assert.equal(await faultOf(chosen(...places)), "method1", places.join());
    // No email can be sent here, and a code or link closes passwords.
    assert.equal(await faultOf(chosen("emailCode", "magicLink")), "method1");
    assert.equal(await faultOf(chosen("passkey", "emailCode")), "method1");
    assert.equal(await faultOf({ passkeyEnrolment: "sometimes" }), "passkeyEnrolment");
    const useless = { ...chosen("password"), passkeyEnrolment: "offer", offersPasskey: undefined };
    assert.equal(await faultOf(useless), "passkeyEnrolment");
    assert.deepEqual(await stored(), UNTOUCHED);
  });

  /** An administrator who has signed in with an authenticator app. */
  const withAuthenticator = async (name: string) => {
    const own = await seedRecords(running.service, name);
    const administrator = { ...own, user: own.administrator };
    const app = await giveAuthenticator(running.service, administrator);
    const browser = testBrowser();
    const base = `${running.baseUrl}/oauth/manage/${own.organisation.id}`;
    const factor = await logIn(browser, administrator, await follow(browser, await browser.get(base)));
    await showFactor(browser, administrator, factor, { code: app.code(running.service.clock()) });
    return { own, administrator, browser, base };
  };

  test("refuses to withdraw the app that is the administrator's only second factor", async () => {
    const { administrator, browser, base } = await withAuthenticator("Own");
    const form = formOfPage(await browser.get(base + PATH), { offersTotp: undefined });
    const refused = await browser.post(base + PATH, form);
    assert.equal(refused.status, 400);
    assert.match(refused.body, /href="#offersTotp"/);
    await givePasskey(running.service, administrator);
    const taken = formOfPage(await browser.get(base + PATH), { offersTotp: undefined });
    assert.equal((await browser.post(base + PATH, taken)).status, 303);
  });

  test("a passkey that is removed while the form is checked is no way in: nothing is saved", async () => {
    const { own, browser, base } = await withAuthenticator("Raced");
    const { database } = running.service;
    await givePasskey(running.service, { ...own, user: own.administrator });
    const form = formOfPage(await browser.get(base + PATH), chosen("passkey"));
    const { transaction } = database;
    // Just before the form's own transaction, after its fields are checked; no part of that request.
    const saving = Promise.withResolvers<void>();
    const owner = { homeOrgId: own.organisation.id, userId: own.administrator.id };
    const removal = saving.promise.then(() => deletePasskeys(database.query, owner));
    const removesFirst: typeof transaction = async (work) => {
      Object.assign(database, { transaction });
      saving.resolve();
      await removal;
      return transaction(work);
    };
    Object.assign(database, { transaction: removesFirst });
    const refused = await browser.post(base + PATH, form);
    Object.assign(database, { transaction });
    assert.equal(refused.status, 400);
    assert.match(refused.body, /href="#method1"/);
    const found = await findOrganisation(database.query, own.organisation.id);
    assert.deepEqual(found?.settings.signInMethods, ["password", "passkey"]);
  });

  test("refuses to offer no second factor where one is required, from either side", async () => {
    const orgId = org.organisation.id;
    const change = (settings: Parameters<typeof changeOrganisationSettings>[1]["settings"]) =>
      changeOrganisationSettings(running.service, { orgId, actor: "test", settings });
    await assert.rejects(
      change({ secondFactor: "required", secondFactorMethods: [], signInMethods: ["password"] }),
      /secondFactor: can't be required while no second factor is offered/,
    );
    await change({ secondFactorMethods: [], signInMethods: ["password"] });
    await assert.rejects(change({ secondFactor: "required" }), /no second factor is offered/);
    await change({ secondFactorMethods: ["totp"], secondFactor: "required" });
    await assert.rejects(change({ secondFactorMethods: [] }), /no second factor is offered/);
    await change({
      signInMethods: ["password", "passkey"],
      secondFactorMethods: ["totp", "passkey"],
      secondFactor: "optional",
    });
  });

  test("an organisation's lists have known methods, each once, and one that signs in", async () => {
    const orgId = org.organisation.id;
    for (const settings of [
      { signInMethods: [] },
      { signInMethods: ["password", "password"] },
      { signInMethods: ["totp"] },
      { secondFactorMethods: ["sms"] },
      { secondFactorMethods: ["totp", "totp"] },
    ])
      await assert.rejects(
        changeOrganisationSettings(running.service, { orgId, actor: "test", settings: settings as never }),
        /must be a list of/,
        JSON.stringify(settings),
      );
    assert.deepEqual(await stored(), UNTOUCHED);
  });
});

forEachDatabase(({ fresh }) => {
  test("saves the methods, with who did it in the audit log", async () => {
    const running = await startTestService({ databaseUrl: await fresh(), passwords: quickPasswords });
    const org = await seedRecords(running.service, "Acme");
    const here = await consoleBrowser(running, org);
    const saved = await here.send(PATH, {
      ...{ method1: "passkey", method2: "password", passkeyEnrolment: "offer", offersTotp: undefined },
    });
    assert.match(saved.location ?? "", /sign-in-methods\?done=methods$/);
    const { settings } = (await findOrganisation(running.service.database.query, org.organisation.id)) ?? {};
    assert.deepEqual(settings?.signInMethods, ["passkey", "password"]);
    assert.deepEqual(settings?.secondFactorMethods, ["passkey"]);
    const [event] = await listAuditEvents(running.service.database.query, org.organisation.id, 1);
    assert.deepEqual(
      [event?.action, event?.actor, event?.details],
      [
        "organisation.changed",
        `user:${org.administrator.id}`,
        { settings: ["signInMethods", "passkeyEnrolment", "secondFactorMethods"] },
      ],
    );
    const shown = await here.get(`${PATH}?done=methods`);
    assert.match(shown.body, /id="done-notice"[\s\S]*Sign-in methods saved/);
    await running.close();
  });
});
