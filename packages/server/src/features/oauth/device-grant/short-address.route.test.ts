/** /device: the code alone leads to the organisation's page, and tells a stranger nothing else. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Application } from "../../../core/applications/application.ts";
import { setOrganisationStatus } from "../../../core/organisations/organisations.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { type TestBrowser, testBrowser } from "../../../testing/fakes/browser.ts";
import { type FakeClock, fakeClock } from "../../../testing/fakes/fake-clock.ts";
import {
  askForCodes,
  decideDeviceCode,
  makeDeviceApp,
  openVerify,
  poll,
} from "../../../testing/fixtures/device.ts";
import {
  makeOrganisation,
  startTestServices,
  type TestOrganisation,
  type TestService,
} from "../../../testing/test-service.ts";

const WRONG = /That code is wrong or has expired/;

forEachDatabase(({ name, fresh }) => {
  let nodes: readonly TestService[];
  let running: TestService;
  let acme: TestOrganisation;
  let other: TestOrganisation;
  let tv: Application;
  let clock: FakeClock;
  before(async () => {
    clock = fakeClock();
    const options = { databaseUrl: await fresh(), clock, env: { TRUSTED_PROXIES: "127.0.0.1" } };
    nodes = await startTestServices(options, name === "sqlite" ? 1 : 2);
    running = nodes[0] as TestService;
    acme = await makeOrganisation(running.service, "Acme");
    other = await makeOrganisation(running.service, "Other");
    tv = await makeDeviceApp(running.service, acme);
  });
  after(async () => {
    for (const node of nodes) {
      assert.deepEqual(node.errors, []);
      await node.close();
    }
  });

  const open = (browser: TestBrowser, query = "", node = running) =>
    browser.get(`${node.baseUrl}/device${query}`);
  const enter = async (
    browser: TestBrowser,
    userCode: string,
    {
      address = "192.0.2.1",
      node = running,
      csrf,
    }: { address?: string; node?: TestService; csrf?: string } = {},
  ) => {
    const token = csrf ?? (await open(browser, "", node)).hidden["csrf"] ?? "";
    const form = { csrf: token, user_code: userCode };
    return browser.post(`${node.baseUrl}/device`, form, { "x-forwarded-for": address });
  };
  const verify = (org: TestOrganisation, userCode: string) =>
    `/oauth/${org.organisation.id}/device/verify?user_code=${userCode}`;

  test("a code leads to its organisation's page, however it is typed", async () => {
    for (const org of [acme, other]) {
      const { userCode } = await askForCodes(
        org,
        org === acme ? tv : await makeDeviceApp(running.service, org),
      );
      const typed = [userCode, userCode.toLowerCase().replace("-", ""), ` ${userCode.replace("-", " ")} `];
      for (const input of typed) {
        const page = await enter(testBrowser(), input);
        assert.equal(page.status, 303, input);
        assert.equal(page.headers.get("location"), verify(org, userCode), input);
      }
    }
  });

  test("from the short address to the token", async () => {
    const codes = await askForCodes(acme, tv);
    const browser = testBrowser();
    assert.equal((await enter(browser, codes.userCode)).status, 303);
    await decideDeviceCode(browser, acme, codes);
    assert.equal((await poll(acme, codes)).status, 200);
  });

  test("a code in the address only fills the field", async () => {
    const { userCode } = await askForCodes(acme, tv);
    const page = await open(testBrowser(), `?user_code=${userCode}`);
    assert.equal(page.status, 200);
    assert.match(page.body, new RegExp(`name="user_code" value="${userCode}"`));
    assert.ok(!page.body.includes(acme.organisation.id) && !page.body.includes("Acme"));
    assert.match(page.headers.get("content-security-policy") ?? "", /form-action 'self'/);
  });

  test("the organisation's own short address leads to its page, with the code", async () => {
    const [plain, filled] = [
      await testBrowser().get(`${acme.issuer}/device`),
      await testBrowser().get(`${acme.issuer}/device?user_code=BCDF-GHJK&x=1`),
    ];
    assert.equal(plain.headers.get("location"), `/oauth/${acme.organisation.id}/device/verify`);
    assert.equal(filled.headers.get("location"), verify(acme, "BCDF-GHJK"));
    assert.ok((await openVerify(testBrowser(), acme, "BCDF-GHJK")).body.includes("BCDF-GHJK"));
  });

  test("an unknown, an expired, and a disabled organisation's code have one answer", async () => {
    const shut = await makeOrganisation(running.service, "Shut");
    const { userCode: shutCode } = await askForCodes(shut, await makeDeviceApp(running.service, shut));
    await setOrganisationStatus(running.service, {
      orgId: shut.organisation.id,
      disabled: true,
      actor: "test",
    });
    const { userCode: expired } = await askForCodes(acme, tv);
    clock.advance(15 * 60_000 + 1);
    for (const [index, code] of [shutCode, expired, "BBBB-BBBB", "nonsense", ""].entries()) {
      const page = await enter(testBrowser(), code, { address: `198.51.100.${index}` });
      assert.equal(page.status, 400, code);
      assert.match(page.body, WRONG);
      assert.equal(page.headers.get("location"), null);
    }
  });

  test("five wrong codes from a network end its guesses on every node, right codes too; others go on", async () => {
    const address = "198.51.100.77";
    const { userCode } = await askForCodes(acme, tv);
    const browser = testBrowser();
    for (let time = 0; time < 8; time++)
      assert.equal((await enter(browser, userCode, { address })).status, 303, "right codes don't count");
    const guesses = Array.from({ length: 12 }, (_, index) =>
      enter(testBrowser(), "BBBB-BBBB", { address, node: nodes[index % nodes.length] as TestService }),
    );
    const statuses = (await Promise.all(guesses)).map(({ status }) => status).sort();
    assert.deepEqual(statuses, [...Array(5).fill(400), ...Array(7).fill(429)]);
    for (const node of nodes) {
      const page = await enter(testBrowser(), userCode, { address, node });
      assert.equal(page.status, 429);
      assert.ok(Number(page.headers.get("retry-after")) > 0);
    }
    assert.equal((await enter(testBrowser(), userCode, { address: "198.51.100.78" })).status, 303);
    const page = await openVerify(testBrowser(), acme, userCode);
    assert.equal(page.status, 200, "the organisation's own page has a counter of its own");
  });

  test("a form of another site or browser is not looked at and counts nothing", async () => {
    const { userCode } = await askForCodes(acme, tv);
    const address = "198.51.100.88";
    const foreign = (await open(testBrowser())).hidden["csrf"];
    const browser = testBrowser();
    for (let time = 0; time < 7; time++)
      for (const csrf of ["", "x", foreign ?? ""])
        assert.equal((await enter(browser, "BBBB-BBBB", { address, csrf })).status, 403);
    const own = (await open(browser)).hidden;
    const crossSite = { "sec-fetch-site": "cross-site", "x-forwarded-for": address };
    const posted = await browser.post(
      `${running.baseUrl}/device`,
      { ...own, user_code: userCode },
      crossSite,
    );
    assert.equal(posted.status, 403);
    assert.equal((await enter(browser, userCode, { address })).status, 303);
  });
});
