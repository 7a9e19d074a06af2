import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { grantOrganisationConsent } from "../../core/consents/consents.ts";
import type { ScopeClaim } from "../../core/scopes/custom-scope.ts";
import { changeCustomScope, createCustomScope } from "../../core/scopes/custom-scopes.ts";
import { changeMemberRecord } from "../../core/users/member-record.ts";
import { forEachDatabase } from "../../testing/databases.ts";
import { authorizationRequest, type TestBrowser, testBrowser } from "../../testing/fakes/browser.ts";
import { quickPasswords } from "../../testing/fakes/quick-passwords.ts";
import { credentials, postForm, redeem, refresh } from "../../testing/fixtures/client.ts";
import {
  answerOf,
  decide,
  follow,
  logIn,
  showsConsent,
  visit,
  withUser,
} from "../../testing/fixtures/visit.ts";
import {
  makeClient,
  makeOrganisation,
  REDIRECT_URI,
  startTestService,
  type TestClient,
  type TestOrganisation,
  type TestService,
} from "../../testing/test-service.ts";

type Told = Record<string, unknown>;

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  let app: TestClient;
  let browser: TestBrowser;
  let scopeId: string;
  const standard = ["openid", "profile", "email", "phone", "offline_access"];
  before(async () => {
    running = await startTestService({ databaseUrl: await fresh(), passwords: quickPasswords });
    org = await makeOrganisation(running.service);
    const { id: orgId } = org.organisation;
    const membership = { groups: ["staff"], attributes: { desk: 7 } };
    await changeMemberRecord(running.service, {
      ...{ orgId, id: org.user.id, actor: "test" },
      record: { attributes: { department: "Finance" }, membership },
    });
    scopeId = await newScope("hr", [
      { name: "department", source: "user", path: "attributes.department" },
      { name: "teams", source: "membership", path: "groups" },
      { name: "tier", source: "static", value: "gold" },
      { name: "email", source: "user", path: "email" },
    ]);
    app = await newApp();
    browser = testBrowser();
    await logIn(browser, org, await visit(browser, org));
  });
  after(() => running.close());

  const newApp = (more = {}) =>
    makeClient(running.service, org.organisation, {
      redirectUris: [REDIRECT_URI],
      allowedScopes: [...standard, "hr", "vault"],
      ...more,
    });
  const newScope = async (name: string, claims: readonly ScopeClaim[]) => {
    const text = { displayName: `The ${name}`, description: "What it is", sensitive: true };
    const input = { orgId: org.organisation.id, name, ...text, claims, actor: "test" };
    return (await createCustomScope(running.service, input)).id;
  };
  const change = (claims: readonly ScopeClaim[], id = scopeId) =>
    changeCustomScope(running.service, {
      orgId: org.organisation.id,
      id,
      content: { claims },
      actor: "test",
    });

  /** Goes to the end of an authorization request. @returns the scopes that consent was asked for, and the tokens */
  async function signIn(
    client: TestClient,
    scope: string,
    more: Record<string, string> = {},
    from = browser,
  ) {
    const { query, verifier } = authorizationRequest(client.application.id, REDIRECT_URI, { scope, ...more });
    let page = await follow(from, await from.get(`${org.issuer}/authorize?${query}`));
    const asked = [...page.body.matchAll(/data-scope="([^"]+)"/g)].map(([, name]) => name);
    if (showsConsent(page)) page = await decide(from, org, page);
    const code = answerOf(page).get("code");
    if (code === null) throw new Error(`${answerOf(page)}`);
    const { body } = await redeem(org, { code, verifier }, client);
    const accessToken = String(body["access_token"]);
    return {
      asked,
      accessToken,
      refreshToken: String(body["refresh_token"]),
      access: payload(accessToken),
      id: body["id_token"] === undefined ? {} : payload(String(body["id_token"])),
    };
  }
  const payload = (token: string): Told =>
    JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString()) as Told;
  const userinfo = async (accessToken: string): Promise<Told> => {
    const headers = { authorization: `Bearer ${accessToken}` };
    return (await (await fetch(`${org.issuer}/userinfo`, { headers })).json()) as Told;
  };
  const only = (told: Told, names: readonly string[]) =>
    Object.fromEntries(names.filter((name) => Object.hasOwn(told, name)).map((name) => [name, told[name]]));
  const hrClaims = ["department", "teams", "tier", "email"];
  const hrTold = { department: "Finance", teams: ["staff"], tier: "gold", email: "user@acme.example" };

  test("puts the claims of a custom scope into the access token and userinfo, not into the ID token", async () => {
    const { asked, access, id, accessToken, refreshToken } = await signIn(app, "openid hr");
    assert.deepEqual(asked, ["hr", "openid"], "sensitive ones first");
    assert.deepEqual(only(access, hrClaims), hrTold);
    assert.deepEqual(await userinfo(accessToken), { sub: org.user.id, ...hrTold });
    assert.deepEqual(only(id, hrClaims), {});
    const { body } = await refresh(org, refreshToken, {}, app);
    assert.deepEqual(only(payload(String(body["access_token"])), hrClaims), hrTold);
    const narrowed = await refresh(org, String(body["refresh_token"]), { scope: "openid" }, app);
    assert.deepEqual(only(payload(String(narrowed.body["access_token"])), hrClaims), {});
  });

  test("omits the claims of a custom scope that was not granted", async () => {
    const { asked, access, accessToken } = await signIn(
      await newApp({ allowedScopes: standard }),
      "openid hr",
    );
    assert.deepEqual(asked, ["openid"]);
    assert.equal(access["scope"], "openid");
    assert.deepEqual(only(access, hrClaims), {});
    assert.deepEqual(await userinfo(accessToken), { sub: org.user.id });
  });

  test("gives static claims to a client that acts for itself", async () => {
    const batch = await newApp({
      grantTypes: ["client_credentials"],
      allowedScopes: ["hr"],
      redirectUris: [],
    });
    const form = { grant_type: "client_credentials", scope: "hr", ...credentials(batch) };
    const { body } = await postForm(`${org.issuer}/token`, form);
    assert.deepEqual(only(payload(String(body["access_token"])), hrClaims), { tier: "gold" });
  });

  test("never replaces a standard claim by a custom one, even one stored without validation", async () => {
    const forged: readonly ScopeClaim[] = ["sub", "iss", "scope", "org_id", "auth_time", "aud", "name"].map(
      (name) => ({
        name,
        source: "static",
        value: "forged",
      }),
    );
    const id = await newScope("vault", []);
    await running.service.database.query
      .updateTable("custom_scope")
      .set({ claims: JSON.stringify(forged) })
      .where("id", "=", id)
      .execute();
    await running.service.changes.publish(running.service.database.query, {
      orgId: org.organisation.id,
      topic: "scope",
    });
    const { access, accessToken } = await signIn(await newApp(), "openid profile vault");
    assert.equal(access["name"], "forged", "the scope is in force");
    for (const name of ["sub", "iss", "scope", "org_id", "auth_time", "aud"])
      assert.notEqual(access[name], "forged", name);
    const told = await userinfo(accessToken);
    assert.equal(told["sub"], org.user.id);
    assert.equal(told["name"], "Uma User");
    await change([], id);
  });

  test("asks for consent again when a scope changes, and withholds the added claims until then", async () => {
    const client = await newApp();
    const first = await signIn(client, "openid hr");
    assert.deepEqual((await signIn(client, "openid hr")).asked, []);
    const [department, teams, tier, email] = [
      { name: "department", source: "user", path: "attributes.department" },
      { name: "teams", source: "membership", path: "groups" },
      { name: "tier", source: "static", value: "gold" },
      { name: "email", source: "user", path: "email" },
    ] as const;
    const desk = { name: "desk", source: "membership", path: "attributes.desk" } as const;
    await change([department, teams, tier, email, desk]);
    const { body } = await refresh(org, first.refreshToken, {}, client);
    const renewed = String(body["access_token"]);
    assert.deepEqual(only(payload(renewed), [...hrClaims, "desk"]), hrTold);
    assert.equal((await userinfo(renewed))["desk"], undefined);
    const silent = authorizationRequest(client.application.id, REDIRECT_URI, {
      scope: "openid hr",
      prompt: "none",
    });
    const refused = await browser.get(`${org.issuer}/authorize?${silent.query}`);
    assert.equal(answerOf(refused).get("error"), "consent_required");

    const again = await signIn(client, "openid hr");
    assert.deepEqual(again.asked, ["hr", "openid"]);
    assert.equal(again.access["desk"], 7);
    await change([department, teams, tier, email]);
    assert.deepEqual((await signIn(client, "openid hr")).asked, [], "less needs no new yes");
    assert.deepEqual(
      (await signIn(client, "openid hr phone")).asked,
      ["hr", "openid", "phone"],
      "a scope more does",
    );
  });

  test("shows a custom scope's own text on the consent page, escaped and marked as the organisation's", async () => {
    const text = { displayName: "<b>Pay</b>", description: `"><script>alert(1)</script>`, sensitive: true };
    const input = { orgId: org.organisation.id, name: "<img/src=x>", claims: [], actor: "test", ...text };
    await createCustomScope(running.service, input);
    const client = await newApp({ allowedScopes: ["openid", "<img/src=x>"] });
    const page = await visit(browser, org, {
      clientId: client.application.id,
      more: { scope: "openid <img/src=x>" },
    });
    assert.match(page.body, /<li data-scope="&lt;img\/src=x&gt;" class="sensitive">/);
    assert.match(page.body, /&lt;b&gt;Pay&lt;\/b&gt;<\/bdi> <span class="state warn">Sensitive/);
    assert.match(page.body, /&lt;script&gt;alert\(1\)&lt;\/script&gt;/);
    assert.doesNotMatch(page.body, /<script>|<img\/src|<b>/);
  });

  test("returns a requested claim in the requested place once the user has consented to its scope", async () => {
    const client = await newApp();
    const claims = JSON.stringify({
      userinfo: { name: { essential: true }, department: null },
      id_token: { email: null, tier: { value: "gold" }, phone_number: { values: ["+1", "+4512345678"] } },
    });
    const { asked, access, id, accessToken, refreshToken } = await signIn(client, "openid", { claims });
    assert.deepEqual(asked, ["hr", "openid", "profile", "email", "phone"]);
    assert.equal(access["scope"], "openid");
    const wanted = ["name", "given_name", "email", "email_verified", "department", "tier", "phone_number"];
    assert.deepEqual(only(access, wanted), {});
    const told = { email: "user@acme.example", tier: "gold", phone_number: "+4512345678" };
    assert.deepEqual(only(id, wanted), told);
    assert.deepEqual(await userinfo(accessToken), {
      sub: org.user.id,
      name: "Uma User",
      department: "Finance",
    });
    const { body } = await refresh(org, refreshToken, {}, client);
    assert.deepEqual(only(payload(String(body["id_token"])), wanted), told);
    assert.equal((await userinfo(String(body["access_token"])))["name"], "Uma User");
    assert.deepEqual(
      (await signIn(client, "openid profile", { claims })).asked,
      [],
      "the scope is covered by then",
    );
  });

  test("omits requested claims that are unknown, have another value or are not allowed, without an error", async () => {
    const client = await newApp({ allowedScopes: ["openid", "email"] });
    const claims = JSON.stringify({
      userinfo: {
        name: { essential: true },
        department: { essential: true },
        __proto__: null,
        iss: null,
        cnf: null,
      },
      id_token: {
        email: { value: "somebody@else.example" },
        constructor: { essential: true },
        exp: { value: 1 },
      },
    });
    const { asked, id, accessToken } = await signIn(client, "openid", { claims });
    assert.deepEqual(asked, ["openid", "email"]);
    assert.equal(id["email"], undefined);
    assert.notEqual(id["exp"], 1);
    assert.deepEqual(await userinfo(accessToken), { sub: org.user.id });
  });

  test("takes a requested claim from the scope that was consented to, not from another scope", async () => {
    await newScope("older", [{ name: "nickname_at_work", source: "user", path: "attributes.none" }]);
    await newScope("newer", [{ name: "nickname_at_work", source: "static", value: "not agreed to" }]);
    const client = await newApp({ allowedScopes: ["openid", "older", "newer"] });
    await grantOrganisationConsent(running.service, {
      application: client.application,
      scopes: ["openid", "older"],
      actor: "test",
    });
    const wanted = { nickname_at_work: null };
    const claims = JSON.stringify({ userinfo: wanted, id_token: wanted });
    const { asked, id, accessToken } = await signIn(client, "openid", { claims });
    assert.deepEqual(asked, []);
    assert.equal(id["nickname_at_work"], undefined);
    assert.deepEqual(await userinfo(accessToken), { sub: org.user.id });
  });

  test("responds with invalid_request to a malformed claims parameter", async () => {
    const nested = (depth: number) =>
      `{"id_token":{"sub":{"value":${"[".repeat(depth)}${"]".repeat(depth)}}}}`;
    for (const claims of [
      "{",
      "[]",
      '{"userinfo":[]}',
      '{"id_token":{"name":7}}',
      nested(30),
      nested(1_500),
    ]) {
      const { query } = authorizationRequest(app.application.id, REDIRECT_URI, { claims });
      const answer = answerOf(await browser.get(`${org.issuer}/authorize?${query}`));
      assert.equal(answer.get("error"), "invalid_request", claims);
    }
    for (const claims of [
      '{"id_token":{"sub":{"value":{"toString":1}}}}',
      '{"id_token":{"sub":{"values":[{"toString":null},7,null]}}}',
      nested(29),
    ]) {
      const { query } = authorizationRequest(app.application.id, REDIRECT_URI, { prompt: "none", claims });
      const answer = answerOf(await browser.get(`${org.issuer}/authorize?${query}`));
      assert.equal(answer.get("error"), "login_required", `nobody is called ${claims}`);
    }
    const { query } = authorizationRequest(app.application.id, REDIRECT_URI, { claims: "x".repeat(13_000) });
    assert.ok((await browser.get(`${org.issuer}/authorize?${query}`)).status < 500);
  });

  test("honours a requested sub value for that user only", async () => {
    const claims = (...values: string[]) => JSON.stringify({ id_token: { sub: { values } } });
    const silent = async (value: string) => {
      const { query } = authorizationRequest(app.application.id, REDIRECT_URI, {
        scope: "openid hr",
        prompt: "none",
        claims: value,
      });
      return answerOf(await browser.get(`${org.issuer}/authorize?${query}`));
    };
    const otto = await withUser(running.service, org, "otto@acme.example");
    assert.equal((await silent(claims(otto.user.id))).get("error"), "login_required");
    assert.ok((await silent(claims(otto.user.id, org.user.id))).get("code"));
    assert.ok((await silent(JSON.stringify({ id_token: { sub: null } }))).get("code"));
  });
});
