/** Tokens of administrators for the API, asked for by its address (RFC 8707; api-v1.md, "Access"). */
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { changeApplication } from "../../core/applications/application-changes.ts";
import { deleteUser } from "../../core/users/leaving/delete-user.ts";
import { changeRole } from "../../core/users/member-record.ts";
import type { Role } from "../../core/users/user.ts";
import { createUser } from "../../core/users/users.ts";
import { forEachDatabase } from "../../testing/databases.ts";
import { authorizationRequest, authorize, testBrowser } from "../../testing/fakes/browser.ts";
import { quickPasswords } from "../../testing/fakes/quick-passwords.ts";
import { callApiV1 } from "../../testing/fixtures/api-client.ts";
import { type Answer, getCode, getTokens, postForm, redeem, refresh } from "../../testing/fixtures/client.ts";
import {
  askForCodes,
  decideDeviceCode,
  makeDeviceApp,
  openVerify,
  poll,
  typeCode,
  type WaitingCodes,
} from "../../testing/fixtures/device.ts";
import { logIn, visit } from "../../testing/fixtures/visit.ts";
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

const BOTH = "signet:users:read signet:groups:write";
const JOBS = "https://jobs.example";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let home: TestOrganisation;
  let web: TestClient;
  let api: string;
  /** As `home`, with an administrator who is made anew for each test. */
  let org: TestOrganisation;
  before(async () => {
    running = await startTestService({ databaseUrl: await fresh(), passwords: quickPasswords });
    home = await makeOrganisation(running.service);
    api = `${running.baseUrl}/api/v1`;
    await as("Administrator");
    web = await makeClient(running.service, home.organisation, {
      redirectUris: [REDIRECT_URI],
      allowedScopes: ["openid", "profile", ...BOTH.split(" ")],
      allowedResources: [JOBS],
      issueRefreshTokenWithoutOfflineAccess: true,
    });
  });
  beforeEach(async () => {
    org = await as("Administrator");
  });
  after(() => running.close());

  const as = async (role: Role): Promise<TestOrganisation> => {
    const [email, password] = [`root${Math.random()}@acme.example`, "plum tractor ninety"];
    const id = await createUser(running.service, {
      ...{ organisation: home.organisation, email, password, firstname: "", surname: "" },
      ...{ role, emailVerified: true, actor: "test" },
    });
    return { ...home, user: { ...home.user, id, email, password } };
  };
  const setRole = (role: Role) =>
    changeRole(running.service, {
      ...{ orgId: home.organisation.id, id: org.user.id, role, actor: "test" },
    });
  const remove = () =>
    deleteUser(running.service, { orgId: home.organisation.id, id: org.user.id, actor: "test" });
  const called = async (accessToken: unknown) =>
    (
      await callApiV1("GET", `${api}/organisations/${home.organisation.id}/users/${home.user.id}`, {
        accessToken: String(accessToken),
      })
    ).status;
  /** What a token says that it is for, and whether the API takes it. */
  const facts = async ({ body }: Pick<Answer, "body">) => {
    const { aud, scope } = payloadOf(String(body["access_token"]));
    assert.equal(body["scope"], scope);
    return [aud, scope, await called(body["access_token"])];
  };
  const tokens = (scope: string, more: Record<string, string> = { resource: api }) =>
    getTokens(org, { scope, ...more }, web);
  const refused = ({ status, body }: Answer) => [status, body["error"]];
  const askedFor = async (asked: Record<string, string>, client = web) => {
    const { query } = authorizationRequest(client.application.id, REDIRECT_URI, asked);
    return (await authorize(testBrowser(), { issuer: org.issuer, query, ...org.user })).get("error");
  };

  test("an administrator's token for the API is for it alone, or for userinfo too", async () => {
    assert.deepEqual(await facts(await tokens(BOTH)), [api, BOTH, 200]);
    assert.deepEqual(await facts(await tokens(`openid ${BOTH}`)), [[api, org.issuer], `openid ${BOTH}`, 200]);
    const unasked = await tokens(`${BOTH} signet:devices:write`);
    assert.deepEqual(await facts(unasked), [api, BOTH, 200]);
  });

  test("whoever is no administrator gets none of it, and nothing at all where nothing else is asked", async () => {
    org = await as("Standard");
    assert.deepEqual(await facts(await tokens(`openid ${BOTH}`)), [org.issuer, "openid", 401]);
    assert.equal(await askedFor({ scope: BOTH, resource: api }), "invalid_scope");
  });

  test("an application without a scope of the API may not name it", async () => {
    const plain = await makeClient(running.service, home.organisation, {
      redirectUris: [REDIRECT_URI],
      allowedScopes: ["openid"],
    });
    assert.equal(await askedFor({ scope: "openid", resource: api }, plain), "invalid_target");
    assert.equal(await askedFor({ scope: BOTH, resource: `${api}/` }), "invalid_target");
    const device = await makeDeviceApp(running.service, home, { allowedScopes: ["openid"] });
    const asked = { client_id: device.id, scope: "openid", resource: api };
    assert.deepEqual(refused(await postForm(`${org.issuer}/device`, asked)), [400, "invalid_target"]);
  });

  test("the page that asks for consent says that access to the API is given away", async () => {
    const browser = testBrowser();
    const asked = { clientId: web.application.id, more: { scope: BOTH, resource: api } };
    const page = await logIn(browser, org, await visit(browser, org, asked));
    assert.match(page.body, /<li data-scope="signet:groups:write" class="sensitive"/);
    assert.match(page.body, /Change groups by the API/);
    const codes = await deviceCodes();
    const question = await typeCode(browser, org, await openVerify(browser, org), codes.userCode);
    assert.match(question.body, /<li data-scope="signet:users:read" class="sensitive"/);
  });

  test("a demotion between the code and the token counts", async () => {
    for (const [scope, expected] of [
      [`openid ${BOTH}`, [org.issuer, "openid", 401]],
      [BOTH, [400, "invalid_grant"]],
    ] as const) {
      await setRole("Administrator");
      const code = await getCode(org, { scope, resource: api }, web);
      await setRole("Standard");
      const answer = await redeem(org, code, web);
      assert.deepEqual(answer.status === 200 ? await facts(answer) : refused(answer), expected);
    }
  });

  test("a removal between the code and the token counts", async () => {
    const code = await getCode(org, { scope: BOTH, resource: api }, web);
    await remove();
    assert.deepEqual(refused(await redeem(org, code, web)), [400, "invalid_grant"]);
  });

  test("a demotion counts at the next call and at the next refresh", async () => {
    const both = await tokens(`openid ${BOTH}`);
    const alone = await tokens(BOTH);
    await setRole("Standard");
    for (const { accessToken } of [both, alone]) assert.equal(await called(accessToken), 401);
    const less = await refresh(org, both.refreshToken, {}, web);
    assert.deepEqual(await facts(less), [org.issuer, "openid", 401]);
    assert.deepEqual(refused(await refresh(org, alone.refreshToken, {}, web)), [400, "invalid_grant"]);
  });

  test("a removal counts at the next call and at the next refresh", async () => {
    const { accessToken, refreshToken } = await tokens(BOTH);
    assert.equal(await called(accessToken), 200);
    await remove();
    assert.equal(await called(accessToken), 401);
    assert.deepEqual(refused(await refresh(org, refreshToken, {}, web)), [400, "invalid_grant"]);
  });

  test("a refresh narrows the audience with the scopes and the resources", async () => {
    const { refreshToken } = await tokens(`openid profile ${BOTH}`);
    let current = refreshToken;
    const next = async (more: Record<string, string>) => {
      const answer = await refresh(org, current, more, web);
      current = String(answer.body["refresh_token"] ?? current);
      return answer.status === 200 ? facts(answer) : refused(answer);
    };
    assert.deepEqual(await next({ scope: "signet:users:read" }), [api, "signet:users:read", 200]);
    assert.deepEqual(await next({ scope: "openid" }), [org.issuer, "openid", 401]);
    assert.deepEqual(await next({ scope: "profile" }), [400, "invalid_target"]);
    assert.deepEqual(await next({ resource: JOBS }), [400, "invalid_target"]);
    assert.deepEqual(await next({ resource: api }), [[api, org.issuer], `openid profile ${BOTH}`, 200]);
  });

  test("a grant for no resource narrows to the API alone", async () => {
    const { refreshToken, body } = await tokens(`profile ${BOTH}`, {});
    assert.deepEqual(await facts({ body }), [[org.issuer, api], `profile ${BOTH}`, 200]);
    const narrowed = await refresh(org, refreshToken, { resource: api }, web);
    assert.deepEqual(await facts(narrowed), [api, `profile ${BOTH}`, 200]);
    const elsewhere = await refresh(org, String(narrowed.body["refresh_token"]), { resource: JOBS }, web);
    assert.deepEqual(refused(elsewhere), [400, "invalid_target"]);
  });

  test("an application that lost its scopes of the API refreshes none", async () => {
    const one = await makeClient(running.service, home.organisation, {
      redirectUris: [REDIRECT_URI],
      allowedScopes: ["openid", "signet:users:read"],
      issueRefreshTokenWithoutOfflineAccess: true,
    });
    const asked = { scope: "openid signet:users:read", resource: api };
    const { accessToken, refreshToken } = await getTokens(org, asked, one);
    const key = { orgId: home.organisation.id, id: one.application.id, actor: "test" };
    await changeApplication(running.service, key, ({ name, settings }) => ({
      ...{ name, disabled: false },
      settings: { ...settings, allowedScopes: ["openid"] },
    }));
    assert.equal(await called(accessToken), 403);
    assert.deepEqual(refused(await refresh(org, refreshToken, {}, one)), [400, "invalid_target"]);
  });

  const deviceCodes = async (): Promise<WaitingCodes> => {
    const device = await makeDeviceApp(running.service, home, {
      allowedScopes: ["openid", ...BOTH.split(" ")],
    });
    return askForCodes(org, device, { scope: `openid ${BOTH}`, resource: api });
  };
  const refreshDevice = ({ application }: WaitingCodes, { body }: Answer, more = {}) =>
    postForm(`${org.issuer}/token`, {
      ...{ grant_type: "refresh_token", refresh_token: String(body["refresh_token"]) },
      ...{ client_id: application.id, ...more },
    });

  test("a device gets a token for the API, as long as its user is an administrator", async () => {
    const codes = await deviceCodes();
    await decideDeviceCode(testBrowser(), org, codes);
    const answer = await poll(org, codes);
    assert.deepEqual(await facts(answer), [[api, org.issuer], `openid ${BOTH}`, 200]);
    const narrowed = await refreshDevice(codes, answer, { scope: "signet:users:read" });
    assert.deepEqual(await facts(narrowed), [api, "signet:users:read", 200]);
    await setRole("Standard");
    assert.equal(await called(narrowed.body["access_token"]), 401);
    assert.deepEqual(await facts(await refreshDevice(codes, narrowed)), [org.issuer, "openid", 401]);
  });

  test("a demotion between a device's approval and its token counts", async () => {
    const codes = await deviceCodes();
    await decideDeviceCode(testBrowser(), org, codes);
    await setRole("Standard");
    assert.deepEqual(await facts(await poll(org, codes)), [org.issuer, "openid", 401]);
  });

  test("whoever becomes an administrator after approving a device has given it no access", async () => {
    org = await as("Standard");
    const codes = await deviceCodes();
    await decideDeviceCode(testBrowser(), org, codes);
    await setRole("Administrator");
    const answer = await poll(org, codes);
    assert.deepEqual(await facts(answer), [org.issuer, "openid", 401]);
    assert.deepEqual(await facts(await refreshDevice(codes, answer)), [org.issuer, "openid", 401]);
  });
});
