// A yes is to what the page has shown: what an application may ask for since then, and what a scope gives since then, is
// shown first.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { changeApplication } from "../../../../core/applications/application-changes.ts";
import { findConsents } from "../../../../core/consents/consents.store.ts";
import { fingerprintsOf } from "../../../../core/scopes/custom-scope.ts";
import { changeCustomScope, createCustomScope } from "../../../../core/scopes/custom-scopes.ts";
import { forEachDatabase } from "../../../../testing/databases.ts";
import { type TestBrowser, testBrowser } from "../../../../testing/fakes/browser.ts";
import { quickPasswords } from "../../../../testing/fakes/quick-passwords.ts";
import {
  answerQuestion,
  askForCodes,
  makeDeviceApp,
  openVerify,
  showsDone,
  showsQuestion,
  typeCode,
} from "../../../../testing/fixtures/device.ts";
import { answerOf, decide, logIn, showsConsent, visit } from "../../../../testing/fixtures/visit.ts";
import {
  makeClient,
  makeOrganisation,
  REDIRECT_URI,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../../../testing/test-service.ts";

const [department, salary] = (["department", "salary"] as const).map((name) => ({
  name,
  source: "static" as const,
  value: name,
}));

describe("scopes that change after the consent page is shown", () => {
  forEachDatabase(({ fresh }) => {
    let running: TestService;
    let org: TestOrganisation;
    let browser: TestBrowser;
    let scopeId: string;
    before(async () => {
      running = await startTestService({ databaseUrl: await fresh(), passwords: quickPasswords });
      org = await makeOrganisation(running.service);
      browser = testBrowser();
      await logIn(browser, org, await visit(browser, org));
      assert.ok(department);
      const words = { displayName: "Staff", description: "Who you are at work", sensitive: false };
      const made = {
        orgId: org.organisation.id,
        name: "staff",
        ...words,
        claims: [department],
        actor: "test",
      };
      scopeId = (await createCustomScope(running.service, made)).id;
    });
    after(async () => {
      assert.deepEqual(running.errors, []);
      await running.close();
    });

    const give = (...claims: ReadonlyArray<typeof department>) =>
      changeCustomScope(running.service, {
        orgId: org.organisation.id,
        id: scopeId,
        content: { claims: claims.flatMap((claim) => claim ?? []) },
        actor: "test",
      });
    const consentsTo = async (applicationId: string) =>
      (
        await findConsents(running.service.database.query, {
          orgId: org.organisation.id,
          applicationId,
          userId: org.user.id,
        })
      ).map(({ scopes }) => scopes);

    test("an application with more scopes since: the consent page is shown again", async () => {
      const settings = { redirectUris: [REDIRECT_URI], allowedScopes: ["openid", "email"] };
      const { application } = await makeClient(running.service, org.organisation, settings);
      const page = await visit(browser, org, {
        clientId: application.id,
        more: { scope: "openid email phone" },
      });
      assert.ok(showsConsent(page) && !page.body.includes('data-scope="phone"'));
      const key = { orgId: org.organisation.id, id: application.id, actor: "test" };
      await changeApplication(running.service, key, ({ name, settings: before }) => ({
        name,
        settings: { ...before, allowedScopes: ["openid", "email", "phone"] },
        disabled: false,
      }));
      const again = await decide(browser, org, page);
      assert.ok(showsConsent(again) && again.body.includes('data-scope="phone"'));
      assert.deepEqual(await consentsTo(application.id), []);
      assert.ok(answerOf(await decide(browser, org, again)).get("code"));
      assert.deepEqual(await consentsTo(application.id), [["openid", "email", "phone"]]);
    });

    test("a scope with more claims since: the consent page is shown again to allow, not to deny", async () => {
      await give(department);
      const settings = { redirectUris: [REDIRECT_URI], allowedScopes: ["openid", "staff"] };
      const { application } = await makeClient(running.service, org.organisation, settings);
      const asked = { clientId: application.id, more: { scope: "openid staff" } };
      const page = await visit(browser, org, asked);
      await give(department, salary);
      const again = await decide(browser, org, page);
      assert.ok(showsConsent(again));
      assert.equal(answerOf(await decide(browser, org, page, "deny")).get("error"), "access_denied");
      assert.deepEqual(await consentsTo(application.id), []);
      assert.ok(answerOf(await decide(browser, org, again)).get("code"));
    });

    test("a device's scope with more claims since: the page is shown again", async () => {
      await give(department);
      const tv = await makeDeviceApp(running.service, org, { allowedScopes: ["openid", "staff"] });
      const { userCode } = await askForCodes(org, tv, { scope: "openid staff" });
      const question = await typeCode(browser, org, await openVerify(browser, org), userCode);
      assert.ok(showsQuestion(question));
      await give(department, salary);
      const again = await answerQuestion(browser, org, question);
      assert.ok(showsQuestion(again));
      assert.deepEqual(await consentsTo(tv.id), []);
      assert.ok(showsDone(await answerQuestion(browser, org, again)));
      assert.deepEqual(await consentsTo(tv.id), [["openid", "staff"]]);
    });

    test("a scope that changes during a device's approval: the consent covers what was shown", async (t) => {
      const { customScopes } = running.service;
      const list = customScopes.list.bind(customScopes);
      for (let looks = 0; looks < 5; looks++) {
        await give(department);
        const tv = await makeDeviceApp(running.service, org, { allowedScopes: ["openid", "staff"] });
        const { userCode } = await askForCodes(org, tv, { scope: "openid staff" });
        const question = await typeCode(browser, org, await openVerify(browser, org), userCode);
        const before = await list(org.organisation.id);
        const shown = fingerprintsOf(before, ["openid", "staff"]);
        await give(department, salary);
        let count = 0;
        const changing = t.mock.method(customScopes, "list", async (orgId: string) =>
          count++ < looks ? before : list(orgId),
        );
        await answerQuestion(browser, org, question);
        changing.mock.restore();
        const key = { orgId: org.organisation.id, applicationId: tv.id, userId: org.user.id };
        for (const { fingerprints } of await findConsents(running.service.database.query, key))
          assert.deepEqual(fingerprints, shown, `at look ${looks}`);
      }
    });
  });
});
