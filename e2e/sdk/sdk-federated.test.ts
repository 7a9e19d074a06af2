/**
 * A web application behind OAuthFederated against the real service, over HTTP: a sign-in with consent, a refresh, signing out on
 * either side, and two processes of the application that refresh one session at the same time.
 */
import assert from "node:assert/strict";
import { once } from "node:events";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { after, before, describe, test } from "node:test";
import { oauthFederated, requirePrincipal, type SignetConfiguration } from "@signet/client-sdk";
import { fastifyPlugin } from "@signet/client-sdk/fastify";
import fastify, { type FastifyInstance } from "fastify";
import { deliverDueLogouts } from "../../packages/server/src/core/backchannel-logout/delivery.ts";
import { type DatabaseContext, forEachDatabase } from "../../packages/server/src/testing/databases.ts";
import {
  type TestBrowser,
  type TestPage,
  testBrowser,
} from "../../packages/server/src/testing/fakes/browser.ts";
import { type FakeClock, fakeClock } from "../../packages/server/src/testing/fakes/fake-clock.ts";
import { decide, logIn, showsConsent, showsLogin } from "../../packages/server/src/testing/fixtures/visit.ts";
import { freePort } from "../../packages/server/src/testing/free-port.ts";
import {
  makeClient,
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../packages/server/src/testing/test-service.ts";

const PAGE = { accept: "text/html", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document" };
const OWN = { ...PAGE, "sec-fetch-site": "same-origin" };

interface Fixture {
  readonly clock: FakeClock;
  readonly running: TestService;
  readonly org: TestOrganisation;
  readonly address: string;
  /** Two processes behind one address: `app` has it, the other one is asked at its own port. */
  readonly apps: readonly [FastifyInstance, FastifyInstance];
  readonly otherAddress: string;
  readonly errors: Error[];
  close(): Promise<void>;
}

async function openFixture({ fresh }: Pick<DatabaseContext, "fresh">): Promise<Fixture> {
  const clock = fakeClock();
  const env = { SIGNET_OUTBOUND_ALLOW: "127.0.0.1" };
  const running = await startTestService({ databaseUrl: await fresh(), clock, env });
  const org = await makeOrganisation(running.service);
  const ports = [await freePort(), await freePort()];
  const [address = "", otherAddress = ""] = ports.map((port) => `http://127.0.0.1:${port}`);
  const { application, secret } = await makeClient(running.service, org.organisation, {
    redirectUris: [`${address}/signet/callback`],
    postLogoutRedirectUris: [`${address}/bye`],
    backchannelLogoutUri: `${address}/signet/back-channel-logout`,
  });
  const errors: Error[] = [];
  const configuration: SignetConfiguration = {
    filterType: "OAuthFederated",
    federationServer: running.baseUrl,
    oauthOrganisationId: org.organisation.id,
    applicationId: application.id,
    oauthClientSecret: secret,
    baseUrl: address,
    afterLogoutPath: "/bye",
    cookieSecrets: ["AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"],
  };
  const start = async (port: number | undefined): Promise<FastifyInstance> => {
    const app = fastify();
    const filter = oauthFederated(configuration, { clock, onError: (error) => void errors.push(error) });
    await app.register(fastifyPlugin(filter, { baseUrl: address }));
    app.get("/*", (request) => {
      const { user, accessToken } = requirePrincipal(request);
      return { user, accessToken };
    });
    await app.listen({ host: "127.0.0.1", port: port ?? 0 });
    return app;
  };
  const apps = [await start(ports[0]), await start(ports[1])] as const;
  const close = async () => {
    for (const app of apps) await app.close();
    await running.close();
  };
  return { clock, running, org, address, otherAddress, apps, errors, close };
}

/** From a page of the application through sign-in and consent, and back. @returns the page that was asked for */
async function signIn(
  { org, address, running }: Fixture,
  browser: TestBrowser,
  path = "/orders?page=2",
): Promise<TestPage> {
  let page = await go(browser, `${address}${path}`);
  for (let step = 0; step < 8; step++) {
    if (showsLogin(page)) page = await logIn(browser, org, page);
    else if (showsConsent(page)) page = await decide(browser, org, page);
    else if (page.location !== undefined) {
      const { location } = page;
      page = await (location.startsWith(running.baseUrl) ? browser.get(location) : go(browser, location));
    } else return page;
  }
  throw new Error(`the sign-in does not end: ${page.url}`);
}

interface Known {
  readonly user: Readonly<Record<string, unknown>>;
  readonly accessToken: string;
}

const knownIn = (page: TestPage): Known => {
  assert.equal(page.status, 200, `${page.url} ${page.body.slice(0, 500)}`);
  return JSON.parse(page.body) as Known;
};

describe("a web application behind OAuthFederated", () => {
  forEachDatabase((database) => {
    let fixture: Fixture;
    before(async () => {
      fixture = await openFixture(database);
    });

    test("the developer is told of a redirect URI that is not registered, before the browser goes there", async () => {
      const { org, running } = fixture;
      const { application, secret } = await makeClient(running.service, org.organisation, {
        redirectUris: ["http://127.0.0.1:9/other/callback"],
      });
      const errors: Error[] = [];
      const filter = oauthFederated(
        {
          issuer: `${running.baseUrl}/oauth/${org.organisation.id}`,
          clientId: application.id,
          clientSecret: secret,
          baseUrl: "http://127.0.0.1:9",
          cookieSecrets: ["AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"],
        },
        { onError: (error) => void errors.push(error) },
      );
      const result = await filter.authenticate(new Request("http://127.0.0.1:9/", { headers: PAGE }));
      assert.equal(result.kind === "answer" && result.response.status, 502);
      assert.match(String(errors[0]), /Register http:\/\/127\.0\.0\.1:9\/signet\/callback as a redirect URI/);
    });
    after(async () => {
      assert.deepEqual(fixture.running.errors, []);
      await fixture.close();
    });

    test("concurrent refreshes by tabs and two processes sign nobody out", async () => {
      const browser = testBrowser();
      knownIn(await signIn(fixture, browser));
      for (let round = 0; round < 3; round++) {
        fixture.clock.advance(3_590_000);
        // Each tab has the cookies of before the refresh: both processes come with the same refresh token.
        const tabs = Array.from({ length: 12 }, () => copyOf(browser));
        const pages = await Promise.all(
          tabs.map((tab, index) =>
            go(tab, `${index % 2 === 0 ? fixture.address : fixture.otherAddress}/tab-${index}`),
          ),
        );
        const tokens = new Set(pages.map((page) => knownIn(page).accessToken));
        assert.equal(tokens.size, 2, "one refresh for each process");
        // The cookie of either process is as good as the other's.
        keepCookies(tabs[round % 2] ?? browser, browser);
        fixture.clock.advance(5_000);
        for (const address of [fixture.address, fixture.otherAddress])
          assert.ok(tokens.has(knownIn(await go(copyOf(browser), `${address}/after`)).accessToken));
      }
      assert.deepEqual(fixture.errors, []);
    });

    if (database.name === "postgres") return;

    test("a page redirects through sign-in and consent back to itself, with the user's claims", async () => {
      const page = await signIn(fixture, testBrowser());
      assert.equal(page.url, `${fixture.address}/orders?page=2`);
      const { user } = knownIn(page);
      assert.deepEqual(user, {
        permId: fixture.org.user.id,
        email: fixture.org.user.email,
        firstname: "Uma",
        surname: "User",
        organisationId: fixture.org.organisation.id,
        role: "Standard",
      });
    });

    test("a user who denies consent sees so and is not signed in", async () => {
      const browser = testBrowser();
      const asked = await go(browser, `${fixture.address}/signet/login`);
      const login = await browser.get(`${asked.location}&prompt=consent`);
      const consent = await logIn(browser, fixture.org, login);
      const answer = await decide(browser, fixture.org, consent, "deny");
      const shown = await go(browser, answer.location ?? "");
      assert.equal(shown.status, 403);
      assert.match(shown.body, /Access denied/);
      assert.equal((await go(browser, `${fixture.address}/`)).status, 302);
      fixture.errors.length = 0;
    });

    test("sign-out ends the session here and at the service, and invalidates a copied cookie", async () => {
      const browser = testBrowser();
      const { accessToken } = knownIn(await signIn(fixture, browser));
      const copy = copyOf(browser);
      const forged = await go(
        browser,
        `${fixture.address}/signet/logout`,
        { ...PAGE, "sec-fetch-site": "cross-site" },
        "POST",
      );
      assert.equal(forged.status, 403);
      const sent = await go(
        browser,
        `${fixture.address}/signet/logout`,
        { ...OWN, origin: fixture.address },
        "POST",
      );
      assert.equal(sent.status, 303);
      const service = await browser.get(sent.location ?? "");
      assert.equal(
        service.location,
        `${fixture.address}/bye`,
        "no question asked, and back to the application",
      );
      const again = await go(browser, `${fixture.address}/orders`);
      assert.ok(showsLogin(await browser.get(again.location ?? "")), "the service's own session is over");
      assert.equal((await go(copy, `${fixture.address}/orders`)).status, 302);
      const authorization = `Bearer ${accessToken}`;
      assert.equal(
        (await fetch(`${fixture.org.issuer}/userinfo`, { headers: { authorization } })).status,
        401,
      );
      fixture.errors.length = 0;
    });

    test("a sign-out at the service signs out here by back-channel logout", async () => {
      const browser = testBrowser();
      knownIn(await signIn(fixture, browser));
      const asked = await browser.get(`${fixture.org.issuer}/end_session`);
      await browser.post(`${fixture.org.issuer}/end_session`, asked.hidden);
      await deliverDueLogouts({ ...fixture.running.service, baseUrl: fixture.running.baseUrl });
      assert.equal((await go(browser, `${fixture.address}/orders`)).status, 302);
    });

    test("a revocation at the service ends the session at its next refresh, and the page signs in again", async () => {
      const browser = testBrowser();
      const first = knownIn(await signIn(fixture, browser));
      const asked = await browser.get(`${fixture.org.issuer}/end_session`);
      await browser.post(`${fixture.org.issuer}/end_session`, asked.hidden);
      // The other process was not told by the back channel.
      const other = copyOf(browser);
      assert.equal((await go(other, `${fixture.otherAddress}/orders`)).status, 200);
      fixture.clock.advance(3_590_000);
      const script = { "sec-fetch-mode": "cors", "sec-fetch-dest": "empty" };
      assert.equal((await go(other, `${fixture.otherAddress}/orders`, script)).status, 401);
      const next = knownIn(await signIn(fixture, browser));
      assert.notEqual(next.accessToken, first.accessToken);
      fixture.errors.length = 0;
    });

    test("the session survives an outage of the service and refreshes afterwards", async () => {
      const browser = testBrowser();
      const first = knownIn(await signIn(fixture, browser));
      fixture.clock.advance(3_550_000);
      await fixture.running.app.close();
      const page = knownIn(await go(browser, `${fixture.address}/orders`));
      assert.equal(page.accessToken, first.accessToken);
      fixture.clock.advance(60_000);
      const late = await go(browser, `${fixture.address}/orders`);
      assert.equal(late.status, 503);
      assert.equal(late.headers.get("retry-after"), "5");
      assert.ok([...browser.cookies.keys()].includes("signet-session"), "the session is kept");
    });
  });
});

/**
 * To the application, as a browser goes to a page: `fetch` of Node says `sec-fetch-mode: cors` whatever it is told.
 * @returns the answer; its cookies are kept
 */
async function go(
  browser: TestBrowser,
  url: string,
  headers: Readonly<Record<string, string>> = PAGE,
  method = "GET",
): Promise<TestPage> {
  const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
  const sent = httpRequest(url, { method, headers: { ...headers, cookie } }).end();
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  let body = "";
  for await (const chunk of response) body += chunk;
  for (const line of response.headers["set-cookie"] ?? []) {
    const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
    if (/max-age=0|expires=Thu, 01 Jan 1970/i.test(line)) browser.cookies.delete(name);
    else browser.cookies.set(name, value);
  }
  const { location } = response.headers;
  return {
    url,
    status: response.statusCode ?? 0,
    headers: new Headers({ "retry-after": response.headers["retry-after"] ?? "" }),
    body,
    location: location === undefined ? undefined : new URL(location, url).href,
    hidden: {},
  };
}

function copyOf(browser: TestBrowser): TestBrowser {
  const copy = testBrowser();
  keepCookies(browser, copy);
  return copy;
}

function keepCookies(from: TestBrowser, to: TestBrowser): void {
  for (const [name, value] of from.cookies) to.cookies.set(name, value);
}
