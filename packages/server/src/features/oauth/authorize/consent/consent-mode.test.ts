import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { ConsentMode } from "../../../../core/applications/application.ts";
import { findConsents } from "../../../../core/consents/consents.store.ts";
import {
  createPreauthorization,
  deletePreauthorization,
  grantOrganisationConsent,
  InvalidConsent,
  revokeConsent,
} from "../../../../core/consents/consents.ts";
import { forEachDatabase } from "../../../../testing/databases.ts";
import { type TestBrowser, testBrowser } from "../../../../testing/fakes/browser.ts";
import { quickPasswords } from "../../../../testing/fakes/quick-passwords.ts";
import { getCode, getTokens, redeem, refresh } from "../../../../testing/fixtures/client.ts";
import { answerOf, decide, logIn, showsConsent, visit } from "../../../../testing/fixtures/visit.ts";
import {
  makeClient,
  makeOrganisation,
  REDIRECT_URI,
  startTestService,
  type TestClient,
  type TestOrganisation,
  type TestService,
} from "../../../../testing/test-service.ts";

const SCOPES = ["openid", "email"];

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  let other: TestOrganisation;
  let browser: TestBrowser;
  before(async () => {
    running = await startTestService({ databaseUrl: await fresh(), passwords: quickPasswords });
    org = await makeOrganisation(running.service);
    other = await makeOrganisation(running.service, "Other");
    browser = testBrowser();
    await logIn(browser, org, await visit(browser, org));
  });
  after(() => running.close());

  const newApp = (consentMode: ConsentMode) =>
    makeClient(running.service, org.organisation, { redirectUris: [REDIRECT_URI], consentMode });
  const grant = ({ application }: TestClient, scopes = SCOPES) => ({ application, scopes, actor: "test" });
  const shown = async ({ application }: TestClient, more: Record<string, string> = {}): Promise<string> => {
    const page = await visit(browser, org, {
      clientId: application.id,
      more: { scope: SCOPES.join(" "), ...more },
    });
    if (page.location !== undefined) return answerOf(page).get("error") ?? "code";
    if (showsConsent(page)) return "consent";
    return page.body.includes("Ask an administrator of Acme") ? "ask-administrator" : "?";
  };
  const kinds = {
    organisation: async (app: TestClient) => {
      const id = await grantOrganisationConsent(running.service, grant(app));
      return () => revokeConsent(running.service, { orgId: org.organisation.id, id, actor: "test" });
    },
    preauthorization: async (app: TestClient) => {
      const { id } = await createPreauthorization(running.service, grant(app));
      return () => deletePreauthorization(running.service, { orgId: org.organisation.id, id, actor: "test" });
    },
  };
  const table: Record<ConsentMode, { none: string; silent: string; recorded: string; asked: string }> = {
    user: { none: "consent", silent: "consent_required", recorded: "code", asked: "consent" },
    organisation: {
      none: "ask-administrator",
      silent: "consent_required",
      recorded: "code",
      asked: "consent",
    },
    preauthorized: { none: "code", silent: "code", recorded: "code", asked: "consent" },
  };
  for (const [mode, expected] of Object.entries(table) as [ConsentMode, (typeof table)["user"]][]) {
    for (const [kind, give] of Object.entries(kinds)) {
      test(`mode ${mode}: an administrator's ${kind} suffices, prompt=consent shows the page, and revoking it asks again`, async () => {
        const app = await newApp(mode);
        assert.equal(await shown(app), expected.none);
        assert.equal(await shown(app, { prompt: "none" }), expected.silent);
        const takeBack = await give(app);
        assert.equal(await shown(app), expected.recorded);
        assert.equal(await shown(app, { prompt: "none" }), "code");
        assert.equal(await shown(app, { prompt: "consent" }), expected.asked);
        if (mode !== "preauthorized")
          assert.equal(await shown(app, { scope: "openid email phone" }), expected.none, "a scope more");
        assert.equal(await takeBack(), true);
        assert.equal(await shown(app), expected.none);
        assert.equal(await takeBack(), false, "once");
      });
    }
  }

  test("with admin consent the page leads back, and a user's decision has no effect", async () => {
    const app = await newApp("organisation");
    const clientId = app.application.id;
    const key = { orgId: org.organisation.id, applicationId: clientId, userId: org.user.id };
    const page = await visit(browser, org, { clientId });
    assert.doesNotMatch(page.body, /consent-allow/);
    const forced = await decide(browser, org, page, "allow");
    assert.match(forced.body, /Ask an administrator of Acme/);
    assert.deepEqual(await findConsents(running.service.database.query, key), []);
    assert.equal(answerOf(await decide(browser, org, page, "deny")).get("error"), "access_denied");
  });

  test("with admin consent an earlier user consent doesn't count", async () => {
    const app = await newApp("user");
    await getTokens(org, { scope: "openid email" }, app);
    assert.equal(await shown(app), "code");
    const { database, changes } = running.service;
    const settings = { ...app.application.settings, consentMode: "organisation" };
    await database.query
      .updateTable("application")
      .set({ settings: JSON.stringify(settings) })
      .where("id", "=", app.application.id)
      .execute();
    await changes.publish(database.query, { orgId: org.organisation.id, topic: "application" });
    assert.equal(await shown(app), "ask-administrator");
  });

  test("with prompt=consent allowing continues with the administrator's consent and records none of the user", async () => {
    const app = await newApp("organisation");
    const id = await grantOrganisationConsent(running.service, grant(app));
    const clientId = app.application.id;
    const page = await visit(browser, org, { clientId, more: { scope: "openid email", prompt: "consent" } });
    assert.ok(answerOf(await decide(browser, org, page)).get("code"));
    const key = { orgId: org.organisation.id, applicationId: clientId, userId: org.user.id };
    const records = await findConsents(running.service.database.query, key);
    assert.deepEqual(
      records.map((record) => [record.kind, record.id]),
      [["organisation", id]],
    );
  });

  for (const [kind, give] of Object.entries(kinds)) {
    test(`revoking an administrator's ${kind} immediately ends its refresh tokens, userinfo access and codes`, async () => {
      for (const mode of ["user", "organisation", "preauthorized"] as const) {
        const app = await newApp(mode);
        const takeBack = await give(app);
        const { accessToken, refreshToken } = await getTokens(org, { scope: "openid email" }, app);
        const waiting = await getCode(org, { scope: "openid email" }, app);
        assert.equal(await takeBack(), true);
        const headers = { authorization: `Bearer ${accessToken}` };
        assert.equal((await fetch(`${org.issuer}/userinfo`, { headers })).status, 401, mode);
        for (const { body } of [await refresh(org, refreshToken, {}, app), await redeem(org, waiting, app)])
          assert.equal(body["error"], "invalid_grant", mode);
      }
    });
  }

  test("organisation-wide consent covers one application, one organisation and its allowed scopes", async () => {
    const app = await newApp("organisation");
    const sibling = await newApp("organisation");
    const id = await grantOrganisationConsent(running.service, grant(app));
    assert.equal(await shown(sibling), "ask-administrator");
    const { id: orgId } = other.organisation;
    assert.equal(await revokeConsent(running.service, { orgId, id, actor: "test" }), false);
    const { id: ahead } = await createPreauthorization(running.service, grant(app));
    assert.equal(await deletePreauthorization(running.service, { orgId, id: ahead, actor: "test" }), false);
    await assert.rejects(
      grantOrganisationConsent(running.service, grant(app, ["openid", "payroll"])),
      InvalidConsent,
    );
    await assert.rejects(createPreauthorization(running.service, grant(app, [])), InvalidConsent);
    assert.equal(await grantOrganisationConsent(running.service, grant(app, ["phone"])), id, "added to it");
    assert.equal(await shown(app, { scope: "openid email phone" }), "code");
  });
});
