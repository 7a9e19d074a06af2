import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { sha256Base64url } from "@signet/protocol/hash";
import type { Application } from "../../../core/applications/application.ts";
import { disableApplication } from "../../../core/applications/applications.ts";
import { listAuditEvents } from "../../../core/audit/audit.store.ts";
import {
  denyAuthorization,
  findByDeviceCode,
  findByUserCode,
} from "../../../core/device-authorizations/device-authorizations.store.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { type TestBrowser, testBrowser } from "../../../testing/fakes/browser.ts";
import { type FakeClock, fakeClock } from "../../../testing/fakes/fake-clock.ts";
import { quickPasswords } from "../../../testing/fakes/quick-passwords.ts";
import {
  answerQuestion,
  askForCodes,
  decideDeviceCode,
  makeDeviceApp,
  openVerify,
  poll,
  showsCodeForm,
  showsDone,
  showsQuestion,
  typeCode,
  type WaitingCodes,
} from "../../../testing/fixtures/device.ts";
import { withUser } from "../../../testing/fixtures/visit.ts";
import { assertOAuthError, payloadOf } from "../../../testing/probes/answers.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../../testing/test-service.ts";

const WINDOW = 15 * 60_000 + 1_000;

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  let clock: FakeClock;
  let tv: Application;
  let browser: TestBrowser;
  before(async () => {
    clock = fakeClock();
    running = await startTestService({
      databaseUrl: await fresh(),
      clock,
      passwords: quickPasswords,
      env: { TRUSTED_PROXIES: "127.0.0.1", SIGNET_RATE_LIMITS: "device-address=1000/60" },
    });
    org = await makeOrganisation(running.service);
    tv = await makeDeviceApp(running.service, org);
    browser = testBrowser();
  });
  after(async () => {
    assert.deepEqual(running.errors, []);
    await running.close();
  });

  const outcome = async (codes: WaitingCodes) => {
    const { status, body } = await poll(org, codes);
    return status === 200 ? "allowed" : body["error"];
  };
  /** From an address of its own, so that suites and tests do not lock each other out. */
  const guess = (userCode: string, address: string, who = browser, csrf?: string) =>
    who.post(
      `${org.issuer}/device/verify`,
      { csrf: csrf ?? "", user_code: userCode },
      { "x-forwarded-for": address },
    );

  test("locks the page for fifteen minutes after five wrong codes, for the right code too", async () => {
    const own = await withUser(running.service, org, "guesser@acme.example");
    const person = testBrowser();
    const { csrf } = (await openVerify(person, own)).hidden;
    const codes = await askForCodes(org, tv);
    const another = (await openVerify(browser, org)).hidden["csrf"];
    const address = "198.51.100.1";
    for (let count = 0; count < 5; count++) {
      const wrong = await guess("BBBB-BBBB", address, person, csrf);
      assert.equal(wrong.status, 400);
      assert.match(wrong.body, /That code is wrong or has expired/);
    }
    const locked = await guess(codes.userCode, address, person, csrf);
    assert.equal(locked.status, 429);
    assert.match(locked.body, /Too many wrong codes\. Try again in 15 minutes/);
    assert.equal(locked.headers.get("retry-after"), "900");
    assert.equal(
      (await guess(codes.userCode, "198.51.100.2", person, csrf)).status,
      429,
      "nor from elsewhere",
    );
    assert.equal(
      (await guess(codes.userCode, address, browser, "")).status,
      403,
      "no form of ours: not looked at",
    );
    assert.equal(
      (await guess(codes.userCode, address, browser, another)).status,
      429,
      "nor anybody from there",
    );
    clock.advance(WINDOW);
    const later = await askForCodes(org, tv);
    assert.ok(showsQuestion(await guess(later.userCode, address, person, csrf)));
  });

  test("counts concurrent guesses one by one, and right codes not at all", async () => {
    const own = await withUser(running.service, org, "parallel@acme.example");
    const person = testBrowser();
    const { csrf } = (await openVerify(person, own)).hidden;
    const address = "198.51.100.7";
    for (let count = 0; count < 7; count++) {
      const codes = await askForCodes(org, tv);
      assert.ok(showsQuestion(await guess(codes.userCode, address, person, csrf)));
    }
    const answers = await Promise.all(
      Array.from({ length: 30 }, () => guess("CCCC-CCCC", address, person, csrf)),
    );
    const statuses = answers.map(({ status }) => status);
    assert.equal(statuses.filter((status) => status === 400).length, 5);
    assert.equal(statuses.filter((status) => status === 429).length, 25);
    const events = await listAuditEvents(running.service.database.query, org.organisation.id, 200);
    const failed = events.filter(
      ({ action, actor }) => action === "user-code.failed" && actor === `user:${own.user.id}`,
    );
    assert.equal(failed.length, 5);
    clock.advance(WINDOW);
  });

  test("rejects foreign, expired and used codes and codes of disabled applications", async () => {
    browser = testBrowser();
    const elsewhere = await makeOrganisation(running.service, "Elsewhere");
    const foreign = await askForCodes(elsewhere, await makeDeviceApp(running.service, elsewhere));
    const app = await makeDeviceApp(running.service, org);
    const [disabled, expired, used] = [
      await askForCodes(org, app),
      await askForCodes(org, tv),
      await askForCodes(org, tv),
    ];
    await disableApplication(running.service, {
      orgId: org.organisation.id,
      id: app.id,
      disabled: true,
      actor: "test",
    });
    await decideDeviceCode(browser, org, used);
    const page = await openVerify(browser, org);
    for (const codes of [foreign, disabled]) {
      const wrong = await typeCode(browser, org, page, codes.userCode);
      assert.match(wrong.body, /That code is wrong or has expired/);
    }
    assert.match((await typeCode(browser, org, page, used.userCode)).body, /That code was already used/);
    clock.advance(15 * 60_000);
    const wrong = await typeCode(browser, org, page, expired.userCode);
    assert.match(wrong.body, /That code is wrong or has expired/);
    clock.advance(WINDOW);
  });

  test("counts one of two concurrent decisions, and the poll follows it", async () => {
    const own = await withUser(running.service, org, "second@acme.example");
    const people = [browser, testBrowser()] as const;
    for (const decisions of [
      ["allow", "allow"],
      ["allow", "deny"],
      ["deny", "allow"],
    ] as const) {
      const codes = await askForCodes(org, tv);
      const questions = [
        await typeCode(people[0], org, await openVerify(people[0], org), codes.userCode),
        await typeCode(people[1], own, await openVerify(people[1], own), codes.userCode),
      ] as const;
      const answers = await Promise.all([
        answerQuestion(people[0], org, questions[0], decisions[0]),
        answerQuestion(people[1], own, questions[1], decisions[1]),
      ]);
      const won = answers.findIndex(showsDone);
      assert.equal(answers.filter(showsDone).length, 1);
      assert.match(answers[1 - won]?.body ?? "", /That code was already used/);
      const answer = await poll(org, codes);
      if (decisions[won] === "deny") assertOAuthError(answer, 400, "access_denied");
      else assert.equal(payloadOf(answer.body["id_token"])["sub"], [org, own][won]?.user.id);
    }
  });

  test("counts one of a hundred concurrent decisions", async () => {
    const { deviceCode } = await askForCodes(org, tv);
    const { database } = running.service;
    const answered = {
      orgId: org.organisation.id,
      deviceCodeHash: sha256Base64url(deviceCode),
      now: clock(),
    };
    const counted = await Promise.all(
      Array.from({ length: 100 }, (_, index) =>
        database.transaction((tx) => denyAuthorization(tx, answered, String(index))),
      ),
    );
    assert.equal(counted.filter((isFirst) => isFirst).length, 1);
  });

  test("scopes decisions by organisation and expiry in SQL", async () => {
    const { deviceCode, userCode } = await askForCodes(org, tv);
    const { query } = running.service.database;
    const [orgId, now] = [org.organisation.id, clock()];
    const [deviceCodeHash, userCodeHash] = [deviceCode, userCode.replace("-", "")].map((code) =>
      sha256Base64url(code),
    );
    assert.ok(await findByDeviceCode(query, orgId, String(deviceCodeHash)));
    assert.ok(await findByUserCode(query, { orgId, hash: String(userCodeHash), now }));
    const other = (await makeOrganisation(running.service, "Third")).organisation.id;
    assert.equal(await findByDeviceCode(query, other, String(deviceCodeHash)), undefined);
    assert.equal(await findByUserCode(query, { orgId: other, hash: String(userCodeHash), now }), undefined);
    const late = { orgId, deviceCodeHash: String(deviceCodeHash), now: now + 15 * 60_000 };
    assert.equal(await denyAuthorization(query, late, org.user.id), false);
  });

  test("rejects a decision without the browser's CSRF token", async () => {
    const codes = await askForCodes(org, tv);
    const question = await typeCode(browser, org, await openVerify(browser, org), codes.userCode);
    const foreign = await openVerify(testBrowser(), org);
    for (const form of [
      { user_code: codes.userCode, decision: "allow" },
      { ...question.hidden, csrf: foreign.hidden["csrf"] ?? "", decision: "allow" },
    ]) {
      const refused = await browser.post(`${org.issuer}/device/verify`, form);
      assert.equal(refused.status, 403);
      assert.ok(showsCodeForm(refused));
    }
    const crossSite = await browser.post(
      `${org.issuer}/device/verify`,
      { ...question.hidden, decision: "allow" },
      { "sec-fetch-site": "cross-site" },
    );
    assert.equal(crossSite.status, 403);
    assert.equal(await outcome(codes), "authorization_pending");
  });
});
