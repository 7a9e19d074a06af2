/**
 * A scope that is deleted is granted to nobody from then on, also when one of its name is made and allowed again: whatever
 * carried the grant. The clock stands still, so that no time can tell the two apart.
 */
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import type { ApplicationSettings } from "../../core/applications/application.ts";
import { changeApplication } from "../../core/applications/application-changes.ts";
import { findConsents } from "../../core/consents/consents.store.ts";
import {
  createPreauthorization,
  grantByAdministrator,
  grantOrganisationConsent,
  InvalidConsent,
} from "../../core/consents/consents.ts";
import { createCustomScope, deleteCustomScope } from "../../core/scopes/custom-scopes.ts";
import { listCustomScopes } from "../../core/scopes/scopes.store.ts";
import { forEachDatabase } from "../../testing/databases.ts";
import { type CodeSource, codeSource, redeemWith } from "../../testing/fakes/code-source.ts";
import { fakeClock } from "../../testing/fakes/fake-clock.ts";
import { quickPasswords } from "../../testing/fakes/quick-passwords.ts";
import { makeAgent, makePool } from "../../testing/fixtures/agent.ts";
import { credentials, postForm, refresh } from "../../testing/fixtures/client.ts";
import {
  answerQuestion,
  askForCodes,
  decideDeviceCode,
  makeDeviceApp,
  openVerify,
  poll,
  showsCodeForm,
  typeCode,
} from "../../testing/fixtures/device.ts";
import { decide, showsConsent, visit } from "../../testing/fixtures/visit.ts";
import { payloadOf } from "../../testing/probes/answers.ts";
import {
  makeClient,
  makeOrganisation,
  REDIRECT_URI,
  startTestService,
  type TestClient,
  type TestOrganisation,
  type TestService,
} from "../../testing/test-service.ts";

const CLAIM = { name: "grade", source: "static", value: 7 } as const;
const ASKED = { scope: "openid pay" };

/** What the tokens tell while the scope is what was granted, and after. */
const ACTIVE = { access: "openid pay", refresh: "openid pay", introspected: 7, grade: 7 };
const GONE = { access: "openid", refresh: "openid", introspected: undefined, grade: undefined };

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  let source: CodeSource;
  before(async () => {
    const clock = fakeClock();
    running = await startTestService({ databaseUrl: await fresh(), clock, passwords: quickPasswords });
    org = await makeOrganisation(running.service);
    source = codeSource(org);
  });
  beforeEach(async () => {
    const scopes = await listCustomScopes(running.service.database.query, org.organisation.id);
    if (!scopes.some(({ name }) => name === "pay")) await define("pay");
  });
  after(async () => {
    await running.close();
    assert.deepEqual(running.errors, []);
  });

  const by = () => ({ orgId: org.organisation.id, actor: "test" });
  const define = (name: string) =>
    createCustomScope(running.service, {
      ...{ ...by(), name, displayName: name, description: "", claims: [CLAIM], sensitive: false },
    });
  const remove = async (name = "pay") => {
    const scopes = await listCustomScopes(running.service.database.query, org.organisation.id);
    const id = scopes.find((scope) => scope.name === name)?.id ?? "";
    assert.ok(await deleteCustomScope(running.service, { ...by(), id }));
  };
  const allow = async ({ id }: { readonly id: string }) =>
    assert.ok(
      await changeApplication(running.service, { ...by(), id }, ({ name, settings }) => ({
        ...{ name, disabled: false },
        settings: { ...settings, allowedScopes: [...settings.allowedScopes, "pay"] },
      })),
    );
  const makeAnew = async (application: { readonly id: string }) => {
    await remove();
    await define("pay");
    await allow(application);
  };
  const newApp = (settings: Partial<ApplicationSettings> = {}) =>
    makeClient(running.service, org.organisation, {
      redirectUris: [REDIRECT_URI],
      allowedScopes: ["openid", "pay"],
      issueRefreshTokenWithoutOfflineAccess: true,
      ...settings,
    });
  const introspect = async (client: TestClient, token: unknown) =>
    (await postForm(`${org.issuer}/introspect`, { token: String(token), ...credentials(client) })).body;
  const userinfo = async (token: unknown) => {
    const headers = { authorization: `Bearer ${token}` };
    return (await (await fetch(`${org.issuer}/userinfo`, { headers })).json()) as Record<string, unknown>;
  };
  const told = async (
    client: TestClient,
    { accessToken, refreshToken }: { readonly accessToken: unknown; readonly refreshToken: unknown },
  ) => ({
    access: (await introspect(client, accessToken))["scope"],
    introspected: (await introspect(client, accessToken))["grade"],
    refresh: (await introspect(client, refreshToken))["scope"],
    grade: (await userinfo(accessToken))["grade"],
  });
  const consentsOf = async (applicationId: string) =>
    findConsents(running.service.database.query, {
      ...{ orgId: org.organisation.id, applicationId, userId: org.user.id },
    });
  /** Whether a page for consent comes, or the user is told to ask an administrator. */
  const asks = async ({ application }: TestClient) => {
    const page = await visit(source.browser, org, { clientId: application.id, more: ASKED });
    return page.location === undefined;
  };

  test("access and refresh tokens: introspection, userinfo and refreshed tokens", async () => {
    const app = await newApp();
    const tokens = await source.tokens(ASKED, app);
    assert.deepEqual(await told(app, tokens), ACTIVE);
    await remove();
    assert.deepEqual(await told(app, tokens), GONE, "deleted");
    await define("pay");
    await allow(app.application);
    assert.deepEqual(await told(app, tokens), GONE, "made anew");
    const { body } = await refresh(org, tokens.refreshToken, {}, app);
    assert.equal(body["scope"], "openid");
    assert.equal(payloadOf(body["access_token"])["grade"], undefined);
    const asked = await refresh(org, String(body["refresh_token"]), { scope: "openid pay" }, app);
    assert.equal(asked.body["scope"], "openid");
    const anew = await source.tokens({ ...ASKED, prompt: "consent" }, app);
    assert.deepEqual(await told(app, anew), ACTIVE);
    assert.equal(
      (await introspect(app, asked.body["access_token"]))["scope"],
      "openid",
      "its consent counts",
    );
  });

  test("a user's consent", async () => {
    const app = await newApp();
    await source.tokens(ASKED, app);
    assert.ok(!(await asks(app)));
    await makeAnew(app.application);
    assert.deepEqual((await consentsOf(app.application.id))[0]?.scopes, ["openid"]);
    assert.ok(await asks(app));
    await grantByAdministrator(running.service, {
      ...{ application: app.application, scopes: ["openid"], actor: "test", userId: org.user.id },
    });
    assert.ok(await asks(app), "another scope added to the consent");
  });

  test("an administrator's consent for all users", async () => {
    const app = await newApp({ consentMode: "organisation" });
    const grant = { application: app.application, scopes: ["openid", "pay"], actor: "test" };
    await grantOrganisationConsent(running.service, grant);
    assert.ok(!(await asks(app)));
    await makeAnew(app.application);
    assert.ok(await asks(app));
    await grantOrganisationConsent(running.service, { ...grant, scopes: ["openid"] });
    assert.ok(await asks(app));
    await grantOrganisationConsent(running.service, grant);
    assert.ok(!(await asks(app)));
  });

  test("a pre-authorization, which can be made again", async () => {
    const app = await newApp();
    const grant = { application: app.application, scopes: ["openid", "pay"], actor: "test" };
    await createPreauthorization(running.service, grant);
    assert.ok(!(await asks(app)));
    await makeAnew(app.application);
    assert.ok(await asks(app));
    await createPreauthorization(running.service, grant);
    assert.ok(!(await asks(app)));
  });

  test("an administrator's consent that a deletion overtakes", async () => {
    const { application } = await newApp();
    await remove();
    const grant = { application, scopes: ["openid", "pay"], actor: "test" };
    await assert.rejects(grantOrganisationConsent(running.service, grant), InvalidConsent);
    await assert.rejects(createPreauthorization(running.service, grant), InvalidConsent);
  });

  test("a code that is not redeemed yet, and its family", async () => {
    const app = await newApp();
    const code = await source.code(ASKED, app);
    await makeAnew(app.application);
    const { body } = await redeemWith(org, code, {}, app);
    assert.equal(body["scope"], "openid");
    const tokens = { accessToken: body["access_token"], refreshToken: body["refresh_token"] };
    assert.deepEqual(await told(app, tokens), GONE);
    const refreshed = await refresh(org, String(body["refresh_token"]), {}, app);
    assert.equal(refreshed.body["scope"], "openid");
  });

  test("a code of a request that read the scope before, whatever committed meanwhile", async (t) => {
    const app = await newApp({ requireConsent: false });
    const { customScopes } = running.service;
    const old = await customScopes.list(org.organisation.id);
    await makeAnew(app.application);
    const stale = t.mock.method(customScopes, "list", async () => old);
    const code = await source.code(ASKED, app);
    stale.mock.restore();
    assert.equal((await redeemWith(org, code, {}, app)).body["scope"], "openid");
  });

  test("a consent page that was shown before is shown again", async () => {
    const app = await newApp();
    const page = await visit(source.browser, org, { clientId: app.application.id, more: ASKED });
    assert.ok(showsConsent(page));
    await makeAnew(app.application);
    assert.ok(showsConsent(await decide(source.browser, org, page)));
    assert.deepEqual(await consentsOf(app.application.id), []);
  });

  test("device codes, approved and pending", async () => {
    const tv = await makeDeviceApp(running.service, org, { allowedScopes: ["openid", "pay"] });
    const approved = await askForCodes(org, tv, ASKED);
    await decideDeviceCode(source.browser, org, approved);
    const pending = await askForCodes(org, tv, ASKED);
    const alone = await askForCodes(org, tv, { scope: "pay" });
    await makeAnew(tv);
    const { body } = await poll(org, approved);
    assert.equal(body["scope"], "openid");
    const form = { refresh_token: String(body["refresh_token"]), client_id: tv.id };
    const again = await postForm(`${org.issuer}/token`, { grant_type: "refresh_token", ...form });
    assert.equal(again.body["scope"], "openid");
    const verify = await openVerify(source.browser, org);
    const question = await typeCode(source.browser, org, verify, pending.userCode);
    assert.ok(question.body.includes('data-scope="openid"') && !question.body.includes('data-scope="pay"'));
    await answerQuestion(source.browser, org, question);
    assert.equal((await poll(org, pending)).body["scope"], "openid");
    assert.ok(showsCodeForm(await typeCode(source.browser, org, verify, alone.userCode)));
  });

  test("a client's own token", async () => {
    const batch = await newApp({ grantTypes: ["client_credentials"], allowedScopes: ["pay"] });
    const get = async () => {
      const form = { grant_type: "client_credentials", ...credentials(batch) };
      return (await postForm(`${org.issuer}/token`, form)).body["access_token"];
    };
    const old = await get();
    assert.equal((await introspect(batch, old))["scope"], "pay");
    await makeAnew(batch.application);
    assert.equal((await introspect(batch, old))["scope"], "");
    assert.equal((await introspect(batch, await get()))["scope"], "pay");
  });

  test("claims that were requested one by one", async () => {
    const app = await newApp({ requireConsent: false });
    const claims = JSON.stringify({ userinfo: { grade: null }, id_token: { grade: null } });
    const tokens = await source.tokens({ scope: "openid", claims }, app);
    assert.equal(payloadOf(tokens.idToken)["grade"], 7);
    assert.equal((await userinfo(tokens.accessToken))["grade"], 7);
    await makeAnew(app.application);
    assert.equal((await userinfo(tokens.accessToken))["grade"], undefined);
    const { body } = await refresh(org, tokens.refreshToken, {}, app);
    assert.equal(payloadOf(body["id_token"])["grade"], undefined);
    assert.equal((await userinfo(body["access_token"]))["grade"], undefined);
  });

  test("tokens that an agent has signed for a code", async () => {
    const pool = await makePool(running.service, org);
    const agent = await makeAgent(running.service, org, pool);
    const app = await newApp({ signingPoolId: pool.id });
    const serving = agent.serve();
    try {
      const code = await source.code(ASKED, app);
      await makeAnew(app.application);
      const { body } = await redeemWith(org, code, {}, app);
      assert.equal(payloadOf(body["access_token"])["scope"], "openid");
    } finally {
      await serving.stop();
    }
  });

  test("a custom scope with the name of a standard one does not become it", async () => {
    const { query } = running.service.database;
    const { id } = await define("place");
    await query.updateTable("custom_scope").set({ name: "address" }).where("id", "=", id).execute();
    const app = await newApp({ allowedScopes: ["openid", "address"] });
    const tokens = await source.tokens({ scope: "openid address" }, app);
    await remove("address");
    await changeApplication(running.service, { ...by(), id: app.application.id }, ({ name, settings }) => ({
      ...{ name, disabled: false, settings: { ...settings, allowedScopes: ["openid", "address"] } },
    }));
    assert.equal((await introspect(app, tokens.accessToken))["scope"], "openid");
    assert.equal((await refresh(org, tokens.refreshToken, {}, app)).body["scope"], "openid");
  });

  test("rows of versions without definitions count by their time", async () => {
    const app = await newApp();
    const tokens = await source.tokens(ASKED, app);
    const { query } = running.service.database;
    const ofApp = ["application_id", "=", app.application.id] as const;
    await query
      .updateTable("token_family")
      .set({ scope_definitions: null })
      .where(...ofApp)
      .execute();
    await query
      .updateTable("consent")
      .set({ scope_definitions: null })
      .where(...ofApp)
      .execute();
    assert.deepEqual(await told(app, tokens), ACTIVE);
    assert.ok(!(await asks(app)));
    const earlier = { created_at: running.service.clock() - 1 };
    await query
      .updateTable("token_family")
      .set(earlier)
      .where(...ofApp)
      .execute();
    await query
      .updateTable("consent")
      .set({ granted_at: earlier.created_at })
      .where(...ofApp)
      .execute();
    assert.deepEqual(await told(app, tokens), GONE);
    assert.ok(await asks(app));
    await remove();
    assert.equal((await introspect(app, tokens.accessToken))["scope"], "openid");
  });
});
