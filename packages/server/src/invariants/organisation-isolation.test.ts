// Every route with another organisation's records, and with an unknown organisation. A new route fails
// here until it has a row.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setOrganisationStatus } from "../core/organisations/organisations.ts";
import type { Service } from "../modules/open-service.ts";
import { CONSOLE } from "../page-kit/page.ts";
import { forEachDatabase } from "../testing/databases.ts";
import { type TestBrowser, type TestPage, testBrowser } from "../testing/fakes/browser.ts";
import { type FakeClock, fakeClock } from "../testing/fakes/fake-clock.ts";
import { MAIL_ENV } from "../testing/fakes/mailbox.ts";
import { quickPasswords } from "../testing/fakes/quick-passwords.ts";
import {
  type CodeGrant,
  credentials,
  getCode,
  postForm,
  redeem,
  refresh,
} from "../testing/fixtures/client.ts";
import {
  askForCodes,
  makeDeviceApp,
  openVerify,
  poll,
  typeCode,
  type WaitingCodes,
} from "../testing/fixtures/device.ts";
import {
  answerOf,
  follow,
  logIn,
  requestQuery,
  sessionCookie,
  showsConsent,
  showsLogin,
  signInAndConsent,
  tokensOf,
  visit,
} from "../testing/fixtures/visit.ts";
import { freePort } from "../testing/free-port.ts";
import { listRoutes } from "../testing/list-routes.ts";
import { accountProbes } from "../testing/probes/account-probes.ts";
import { consentProbes } from "../testing/probes/consent-probes.ts";
import { deviceProbes } from "../testing/probes/device-probes.ts";
import { documentProbes, ORIGIN_AT_A, preflight } from "../testing/probes/document-probes.ts";
import { federationProbes } from "../testing/probes/federation-probes.ts";
import { imageProbes } from "../testing/probes/image-probes.ts";
import { ledgerProbes } from "../testing/probes/ledger-probes.ts";
import { pushedRequestProbes } from "../testing/probes/pushed-request-probes.ts";
import { recoveryProbes } from "../testing/probes/recovery-probes.ts";
import { scimProbes } from "../testing/probes/scim-probes.ts";
import { sovereignProbes } from "../testing/probes/sovereign-probes.ts";
import { ssfProbes } from "../testing/probes/ssf-probes.ts";
import { userinfoProbes } from "../testing/probes/userinfo-probes.ts";
import {
  makeClient,
  makeOrganisation,
  startTestService,
  type TestClient,
  type TestOrganisation,
  type TestService,
} from "../testing/test-service.ts";

/** What organisation A has, in the hands of somebody who knows it all, to be tried at B. */
interface Loot {
  readonly service: Service;
  readonly a: TestOrganisation;
  readonly b: TestOrganisation;
  readonly tokens: Awaited<ReturnType<typeof tokensOf>>;
  readonly code: CodeGrant;
  readonly onlyAtA: TestClient;
  readonly device: WaitingCodes;
  /** Of the listener for proxies. */
  readonly proxyUrl: string;
  /** Signed in at A, at its consent page; the session's token under the name of B's cookie too. */
  readonly browser: TestBrowser;
  readonly cookies: ReadonlyArray<readonly [name: string, value: string]>;
  readonly consent: TestPage;
}
type Probe = (loot: Loot) => Promise<void>;

const clientForm = ({ web }: TestOrganisation) => credentials(web);
const errorOf = (page: TestPage) => answerOf(page).get("error");

const userinfo =
  (method: "GET" | "POST", path: string, own: number): Probe =>
  async ({ a, b, tokens }) => {
    const ask = ({ issuer }: TestOrganisation) =>
      fetch(`${issuer}/${path}`, { method, headers: { authorization: `Bearer ${tokens.accessToken}` } });
    assert.equal((await ask(a)).status, own);
    const refused = await ask(b);
    assert.equal(refused.status, 401);
    assert.match(refused.headers.get("www-authenticate") ?? "", /error="invalid_token"/);
  };
const endSession =
  (method: "get" | "post"): Probe =>
  async ({ a, b, browser, tokens }) => {
    const asked = {
      id_token_hint: tokens.idToken,
      post_logout_redirect_uri: "https://app.example/bye",
      client_id: a.web.application.id,
    };
    const page =
      method === "get"
        ? await browser.get(`${b.issuer}/end_session?${new URLSearchParams(asked)}`)
        : await browser.post(`${b.issuer}/end_session`, asked);
    assert.equal(page.location, undefined);
    assert.match(page.body, /You’re signed out/, "nobody is signed in there");
    assert.equal(
      errorOf(await visit(browser, a, { more: { prompt: "none" } })),
      null,
      "and at A they still are",
    );
  };

const NO_ORGANISATION = "of no organisation";
const ofNone = (method: string, paths: string) =>
  Object.fromEntries(paths.split(" ").map((path) => [`${method} ${path}`, NO_ORGANISATION] as const));
const probes: Readonly<Record<string, Probe | typeof NO_ORGANISATION>> = {
  ...ofNone("GET", "/ /livez /healthz /readyz /assets/:file /openapi.json /docs /docs/* /device"),
  ...ofNone("GET", "/downloads/:file /language/:locale /docs/console /console-kit /console-kit/question"),
  ...ofNone("GET", "/console-kit/record /console-kit/terminal /console-kit/wizard /portal /portal/:token"),
  ...ofNone("POST", "/device /portal/:token /api/v1/organisations /oauth/common/authorize"),
  ...ofNone("GET", "/invite/:id /verify/:id /reset/:id /confirm/:id /api/v1 /api/v1/organisations"),
  ...ofNone("GET", "/demo/try /demo/callback /demo/mailbox /demo/mailbox/:id /oauth/common/authorize"),
  ...ofNone("HEAD", "/ /api/v1 /livez /healthz /readyz /openapi.json /docs /docs/console"),
  ...documentProbes,
  ...{ ...imageProbes, ...ledgerProbes },
  ...pushedRequestProbes,
  "POST /oauth/:org/device": async ({ a, b, device }) => {
    const tv = { client_id: device.application.id };
    assert.equal((await postForm(`${a.issuer}/device`, tv)).status, 200);
    assert.equal((await postForm(`${b.issuer}/device`, tv)).status, 401);
    assert.equal((await poll(b, device)).status, 401);
  },
  "GET /oauth/:org/device": async ({ b, browser }) =>
    assert.equal(
      (await browser.get(`${b.issuer}/device`)).headers.get("location"),
      `/oauth/${b.organisation.id}/device/verify`,
    ),
  "GET /oauth/:org/device/verify": async ({ b, browser, device }) => {
    const page = await follow(
      browser,
      await browser.get(`${b.issuer}/device/verify?user_code=${device.userCode}`),
    );
    assert.ok(showsLogin(page), "A's session");
  },
  "POST /oauth/:org/device/verify": async ({ a, b, browser, device }) => {
    const own = testBrowser();
    const page = await openVerify(own, b);
    const wrong = await typeCode(own, b, page, device.userCode);
    assert.match(wrong.body, /That code is wrong/);
    const { csrf = "" } = (await openVerify(browser, a)).hidden;
    const foreignToken = await typeCode(own, b, { ...page, hidden: { csrf } }, device.userCode);
    assert.equal(foreignToken.status, 403);
    assert.equal((await poll(a, device)).body["error"], "authorization_pending");
  },
  ...userinfoProbes(userinfo, preflight),
  "GET /oauth/:org/end_session": endSession("get"),
  "POST /oauth/:org/end_session": endSession("post"),

  "GET /oauth/:org/authorize": async ({ a, b, browser, consent, tokens }) => {
    const foreignClient = await browser.get(`${b.issuer}/authorize?${requestQuery(a)}`);
    assert.equal(foreignClient.status, 400);
    assert.equal(foreignClient.location, undefined);
    const foreignFlow = await browser.get(`${b.issuer}/authorize?flow=${consent.hidden["flow"]}`);
    assert.equal(foreignFlow.status, 400);
    assert.equal(
      errorOf(await visit(browser, b, { more: { prompt: "none" } })),
      "login_required",
      "A's session",
    );
    const own = testBrowser();
    await signInAndConsent(own, b);
    const hinted = await visit(own, b, { more: { prompt: "none", id_token_hint: tokens.idToken } });
    assert.equal(errorOf(hinted), "login_required", "A's ID token");
  },
  "POST /oauth/:org/authorize": async ({ b, browser, consent }) => {
    const foreignFlow = await browser.post(`${b.issuer}/authorize`, { ...consent.hidden, decision: "allow" });
    assert.equal(foreignFlow.status, 400);
    const own = testBrowser();
    const page = await signInAndConsent(own, b).then(() => visit(own, b, { more: { prompt: "consent" } }));
    const csrf = consent.hidden["csrf"] ?? "";
    const again = await own.post(`${b.issuer}/authorize`, { ...page.hidden, csrf, decision: "allow" });
    assert.match(again.location ?? "", /\/consent\?flow=/, "A's token confirms nothing");
  },
  "POST /oauth/:org/login": async ({ a, b, consent }) => {
    const own = testBrowser();
    const login = await visit(own, b);
    const { email, password } = a.user;
    const foreignFlow = { ...login.hidden, flow: consent.hidden["flow"] ?? "", email, password };
    assert.equal((await own.post(`${b.issuer}/login`, foreignFlow)).status, 400);
    const foreignUser = await own.post(`${b.issuer}/login`, { ...login.hidden, email, password });
    assert.equal(foreignUser.status, 401);
    assert.ok(showsLogin(foreignUser));
    const foreignToken = { ...login.hidden, csrf: consent.hidden["csrf"] ?? "", ...b.user };
    assert.equal((await own.post(`${b.issuer}/login`, foreignToken)).status, 403);
  },
  "POST /oauth/:org/twofactor": async ({ a, b }) => {
    const own = testBrowser();
    const claims = JSON.stringify({ id_token: { acr: { essential: true, value: "urn:signet:acr:mfa" } } });
    const waiting = await logIn(own, a, await visit(own, a, { more: { claims } }));
    const [, cookie = ""] = sessionCookie(own, a) ?? [];
    own.cookies.set(`signet-${b.organisation.id}`, cookie);
    assert.equal((await own.post(`${b.issuer}/twofactor`, waiting.hidden)).status, 400, "A's flow");
    const { csrf = "", flow = "" } = (await visit(own, b)).hidden;
    const pending = await own.post(`${b.issuer}/twofactor`, { ...waiting.hidden, csrf, flow });
    assert.equal(pending.status, 403, "A's waiting sign-in");
    assert.ok(showsLogin(pending));
  },
  ...accountProbes,
  ...consentProbes,
  ...recoveryProbes,
  ...federationProbes,
  ...sovereignProbes,
  ...deviceProbes,
  ...scimProbes,
  ...ssfProbes,
  "GET /oauth/:org/consent": async ({ b, browser, consent }) => {
    assert.equal((await browser.get(`${b.issuer}/consent?flow=${consent.hidden["flow"]}`)).status, 400);
    const own = await visit(testBrowser(), b);
    assert.ok(showsLogin(await browser.get(`${b.issuer}/consent?flow=${own.hidden["flow"]}`)), "A's session");
  },
  "POST /oauth/:org/token": async ({ a, b, code, tokens }) => {
    assert.equal((await redeem({ ...b, web: a.web }, code)).status, 401, "A's client");
    assert.equal((await redeem(b, code)).body["error"], "invalid_grant", "A's code");
    assert.equal((await refresh(b, tokens.refreshToken)).body["error"], "invalid_grant", "A's refresh token");
    const machine = { grant_type: "client_credentials" };
    assert.equal((await postForm(`${b.issuer}/token`, { ...machine, ...credentials(a.batch) })).status, 401);
    const mixed = { ...machine, client_id: b.batch.application.id, client_secret: a.batch.secret };
    assert.equal((await postForm(`${b.issuer}/token`, mixed)).status, 401, "A's secret");
    assert.equal((await redeem(a, code)).status, 200, "nothing was burnt");
    assert.equal((await refresh(a, tokens.refreshToken)).status, 200, "nothing was ended");
  },
  "POST /oauth/:org/revoke": async ({ a, b, tokens }) => {
    for (const token of [tokens.accessToken, tokens.refreshToken]) {
      assert.equal(
        (await postForm(`${b.issuer}/revoke`, { token, ...clientForm(b) })).status,
        200,
        "like any unknown one",
      );
      assert.equal((await postForm(`${b.issuer}/revoke`, { token, ...clientForm(a) })).status, 401);
      assert.equal(
        (await postForm(`${a.issuer}/introspect`, { token, ...clientForm(a) })).body["active"],
        true,
      );
    }
  },
  "POST /oauth/:org/introspect": async ({ a, b, tokens }) => {
    for (const token of [tokens.accessToken, tokens.refreshToken, tokens.idToken]) {
      const { body } = await postForm(`${b.issuer}/introspect`, { token, ...clientForm(b) });
      assert.deepEqual(body, { active: false });
      assert.equal((await postForm(`${b.issuer}/introspect`, { token, ...clientForm(a) })).status, 401);
    }
  },
};

/** The code and the refresh token, which are shown to be good at A. */
const usedUpBy = new Set(["POST /oauth/:org/token"]);

// JSON interfaces: api-operations.test.ts; the console's pages: console-access.test.ts. The federation's is the application's.
const routes = (await listRoutes()).filter(
  ({ path }) => !path.startsWith("/legacy/") && !path.startsWith(CONSOLE),
);
const isTriedElsewhere = ({ path }: { readonly path: string }) => path.startsWith("/api/v1/organisations/");
const isOfOrganisation = (route: string) => probes[route] !== NO_ORGANISATION;

test("every registered route belongs to no organisation or has a probe", () => {
  const tried = routes.filter((route) => !isTriedElsewhere(route));
  const registered = tried.map(({ method, path }) => `${method} ${path}`);
  assert.deepEqual(Object.keys(probes).sort(), registered.sort());
  for (const route of registered)
    assert.equal(isOfOrganisation(route), /:org|\/federation\//.test(route), route);
});

forEachDatabase(({ name, fresh }) => {
  let running: TestService;
  let clock: FakeClock;
  let proxyUrl: string;
  let a: TestOrganisation;
  let b: TestOrganisation;
  /** For all that do not use anything of it up: to make it takes longer than to try it. */
  let shared: Loot;
  before(async () => {
    clock = fakeClock();
    const proxyPort = await freePort();
    proxyUrl = `http://127.0.0.1:${proxyPort}`;
    const env = { ...MAIL_ENV, SIGNET_PROXY_PORT: String(proxyPort) };
    const options = { clock, passwords: quickPasswords, env };
    running = await startTestService({ databaseUrl: await fresh(), ...options });
    a = await makeOrganisation(running.service, "A");
    b = await makeOrganisation(running.service, "B");
    shared = await loot();
  });
  after(() => running.close());

  async function loot(): Promise<Loot> {
    const settings = { redirectUris: [`${ORIGIN_AT_A}/callback`] };
    const onlyAtA = await makeClient(running.service, a.organisation, settings);
    const browser = testBrowser();
    const tokens = await tokensOf(browser, a);
    const [, value = ""] = sessionCookie(browser, a) ?? [];
    browser.cookies.set(`signet-${b.organisation.id}`, value);
    const consent = await visit(browser, a, { more: { prompt: "consent" } });
    assert.ok(showsConsent(consent));
    const cookies = [...browser.cookies];
    const device = await askForCodes(a, await makeDeviceApp(running.service, a));
    const { service } = running;
    const code = await getCode(a);
    return { service, a, b, tokens, code, onlyAtA, device, proxyUrl, browser, cookies, consent };
  }

  /** With a browser as the first one was, whatever it has been given since. */
  function again(): Loot {
    const browser = testBrowser();
    for (const [name, value] of shared.cookies) browser.cookies.set(name, value);
    return { ...shared, browser };
  }

  for (const [route, probe] of Object.entries(probes)) {
    if (probe === NO_ORGANISATION) continue;
    test(`${route}: organisation A's records are not found at B`, async () => {
      // One address asks for device codes only so often.
      clock.advance(1_000);
      await probe(usedUpBy.has(route) ? await loot() : again());
      assert.deepEqual(running.errors, []);
    });
  }

  test("organisation A's records are unchanged", async () => {
    const { tokens, device, browser } = again();
    for (const token of [tokens.accessToken, tokens.refreshToken]) {
      const { body } = await postForm(`${a.issuer}/introspect`, { token, ...clientForm(a) });
      assert.equal(body["active"], true);
    }
    assert.ok(answerOf(await visit(browser, a, { more: { prompt: "none" } })).get("code"));
    assert.ok(showsConsent(await browser.get(shared.consent.url)), "the flow goes on");
    assert.equal((await poll(a, device)).body["error"], "authorization_pending");
  });

  test("responds with 404 on every route for an unknown, malformed or disabled organisation", async () => {
    const gone = await makeOrganisation(running.service, "Gone");
    const tokens = await tokensOf(testBrowser(), gone);
    const key = { orgId: gone.organisation.id, disabled: true, actor: "test" };
    await setOrganisationStatus(running.service, key);
    const form = { grant_type: "client_credentials", token: tokens.accessToken };
    const bodyFor = (path: string) => {
      if (path.endsWith("/ocsp")) return new Blob(["x"], { type: "application/ocsp-request" });
      return /sovereign\/(agent|admin)|devices\/|\/ssf\/|\/register$|^\/(?:api|scim)\//.test(path)
        ? new Blob([JSON.stringify(form)], { type: "application/json" })
        : new URLSearchParams(form);
    };
    const basic = `Basic ${Buffer.from(`${gone.web.application.id}:${gone.web.secret}`).toString("base64")}`;
    const wellFormed = [gone.organisation.id, "01a1fd3c-484e-78bb-9893-e02106c1d59d"];
    const malformed = ["x", "%00", "a".repeat(190), `${a.organisation.id}x`];
    for (const { method, path } of routes.filter(({ path }) => path.includes(":org"))) {
      for (const org of name === "sqlite" ? [...wellFormed, ...malformed] : wellFormed) {
        const bearer = wellFormed.includes(org) ? [`Bearer ${tokens.accessToken}`] : [];
        for (const authorization of [basic, ...bearer]) {
          const response = await fetch(
            `${running.baseUrl}${path.replace(":org", org)}?client_id=${gone.web.application.id}`,
            {
              method,
              headers: { authorization, origin: "https://app.example" },
              ...(method === "POST" ? { body: bodyFor(path) } : {}),
              redirect: "manual",
            },
          );
          const what = `${method} ${path} ${org}`;
          // A preflight tells only who may read answers. Programs have other methods at the address of a question: told first.
          const isQuestion = method === "GET" && /^\/devices\/manage\/.*\/(?:revoke|withdraw)$/.test(path);
          const refusal = path.startsWith("/scim/") ? 401 : isQuestion ? 405 : 404;
          assert.equal(response.status, method === "OPTIONS" ? 204 : refusal, what);
          if (method === "OPTIONS") {
            const isPublic = /\.well-known|\/jwks\.json$|:org\/register/.test(path);
            const allowed = response.headers.get("access-control-allow-origin");
            assert.equal(allowed, isPublic ? "*" : null, what);
          }
          assert.doesNotMatch(await response.text(), /Gone|app\.example/, what);
        }
      }
    }
    assert.deepEqual(running.errors, []);
    await setOrganisationStatus(running.service, { ...key, disabled: false });
    assert.equal((await refresh(gone, tokens.refreshToken)).status, 200, "enabled again, it goes on");
  });

  test("accepts every spelling of an organisation's ID", async () => {
    const upper = { ...a, issuer: a.issuer.replace(a.organisation.id, a.organisation.id.toUpperCase()) };
    const browser = testBrowser();
    assert.ok(answerOf(await signInAndConsent(browser, upper)).get("code"));
    const names = [...browser.cookies.keys()];
    assert.equal(names.length, 2, "the session's, and the one that browsers are recognised by");
    assert.ok(names.every((name) => name.includes(a.organisation.id)));
    const answer = answerOf(await visit(browser, a, { more: { prompt: "none" } }));
    assert.ok(answer.get("code"));
    assert.equal(answer.get("iss"), a.issuer);
  });
});
