/**
 * UserFederated and SystemAccountExternal against the real service: an application on Node behind the filter, browsers that go
 * from it to the service and back, and a receiver of signed requests, all over HTTP.
 */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, request, type Server } from "node:http";
import { buffer, text } from "node:stream/consumers";
import { after, before, test } from "node:test";
import {
  type ConfigurationProperties,
  type Filter,
  signRequest,
  systemAccountExternal,
  type UserFederatedConfiguration,
  userFederated,
} from "@signet/client-sdk";
import { legacyApiClient } from "@signet/client-sdk/legacy-api";
import { addCookies, authenticateNodeRequest, sendWebResponse } from "@signet/client-sdk/node";
import type { ApplicationSettings } from "../../packages/server/src/core/applications/application.ts";
import {
  type TestBrowser,
  type TestPage,
  testBrowser,
} from "../../packages/server/src/testing/fakes/browser.ts";
import { makeFederatedApp } from "../../packages/server/src/testing/fixtures/federation.ts";
import { makeSystemAccount } from "../../packages/server/src/testing/fixtures/system-account.ts";
import { logIn, showsLogin } from "../../packages/server/src/testing/fixtures/visit.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../packages/server/src/testing/test-service.ts";

interface Site {
  readonly url: string;
  readonly applicationId: string;
  readonly server: Server;
  /** Puts another filter in the place of the first. */
  use(filter: Filter): void;
}

let running: TestService;
let org: TestOrganisation;
const sites: Site[] = [];
before(async () => {
  running = await startTestService({ databaseUrl: "sqlite::memory:" });
  org = await makeOrganisation(running.service);
});
after(async () => {
  for (const { server } of sites) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
  assert.deepEqual(running.errors, []);
  await running.close();
});

/** An application whose pages tell who asks. */
async function openSite(
  filterOf: (site: Pick<Site, "url" | "applicationId">) => Filter,
  settings: Partial<ApplicationSettings> = {},
): Promise<Site> {
  let filter: Filter | undefined;
  const server = createServer(async (incoming, response) => {
    if (!filter) return response.end();
    const result = await authenticateNodeRequest(filter, incoming, { baseUrl: url });
    if (result.kind === "answer") return sendWebResponse(result.response, response);
    addCookies(response, result.cookies);
    const { user, subject } = result.kind === "authenticated" ? result.principal : {};
    const body = (await buffer(incoming)).toString("base64");
    return response.end(JSON.stringify({ user, subject, url: incoming.url, body }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  assert.ok(address !== null && typeof address === "object");
  const url = `http://127.0.0.1:${address.port}`;
  const { id } = await makeFederatedApp(running.service, org, {
    returnUrls: [`${url}/signet/callback`],
    homepageUri: `${url}/`,
    ...settings,
  });
  filter = filterOf({ url, applicationId: id });
  const use = (other: Filter) => {
    filter = other;
  };
  const site = { url, applicationId: id, server, use };
  sites.push(site);
  return site;
}

type Own = Pick<Site, "url" | "applicationId">;
const legacy = (
  { url, applicationId }: Own,
  more: ConfigurationProperties = {},
): UserFederatedConfiguration => ({
  filterType: "UserFederated",
  federationServer: running.baseUrl,
  applicationId,
  baseUrl: url,
  cookieSecrets: [randomBytes(32).toString("base64url")],
  ...more,
});

/** What a browser says when a person goes to a page; `fetch` would say in their place that a script asks. */
const NAVIGATION = { accept: "text/html", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document" };

/** At the service the browser of its own tests, at an application as a person. */
async function go(
  browser: TestBrowser,
  url: string,
  { method = "GET", site = "none" }: { method?: string; site?: string } = {},
): Promise<TestPage> {
  if (url.startsWith(running.baseUrl)) return browser.get(url);
  const cookie = [...browser.cookies].map((pair) => pair.join("=")).join("; ");
  const headers = { ...NAVIGATION, "sec-fetch-site": site, ...(cookie === "" ? {} : { cookie }) };
  const sent = request(url, { method, headers, agent: false }).end();
  const [answer] = (await once(sent, "response")) as [IncomingMessage];
  for (const line of answer.headers["set-cookie"] ?? []) {
    const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
    if (line.includes("Max-Age=0")) browser.cookies.delete(name);
    else browser.cookies.set(name, value);
  }
  const { statusCode: status = 0 } = answer;
  const location = answer.headers.location;
  return { url, status, location, body: await text(answer), headers: new Headers(), hidden: {} };
}

/** Follows redirects between the application and the service until there is a page. */
async function settle(browser: TestBrowser, page: TestPage): Promise<TestPage> {
  let here = page;
  for (let step = 0; here.location !== undefined; step++) {
    assert.ok(step < 10, `the redirects do not end: ${here.location}`);
    here = await go(browser, here.location);
  }
  return here;
}
const visit = async (browser: TestBrowser, url: string) => settle(browser, await go(browser, url));

const told = (page: TestPage) =>
  JSON.parse(page.body) as { user?: Record<string, string>; subject?: string; url: string; body: string };

test("a page redirects to the sign-in and back to itself with the user", async () => {
  const site = await openSite((own) => userFederated(legacy(own)));
  const browser = testBrowser();
  const asked = await visit(browser, `${site.url}/orders?page=2`);
  assert.ok(showsLogin(asked));
  const page = await settle(browser, await logIn(browser, org, asked));
  const { user, subject, url } = told(page);
  assert.deepEqual([url, subject], ["/orders?page=2", org.user.id]);
  assert.deepEqual(user, {
    permId: org.user.id,
    email: org.user.email,
    firstname: "Uma",
    surname: "User",
    phone: "+4512345678",
    organisationId: org.organisation.id,
    role: "Standard",
  });
  assert.doesNotMatch(JSON.stringify(running.lines), /sgn_sk_/);
  // Signed in at the service: another application of the organisation has them at once.
  const other = await openSite((own) => userFederated(legacy(own)));
  assert.equal(told(await visit(browser, `${other.url}/`)).subject, org.user.id);
});

test("sign-out ends the session at the service too", async () => {
  const site = await openSite((own) => userFederated(legacy(own, { afterLogoutPath: "/bye" })));
  const browser = testBrowser();
  await settle(browser, await logIn(browser, org, await visit(browser, `${site.url}/`)));
  const cookies = new Map(browser.cookies);
  const out = await go(browser, `${site.url}/signet/logout`, { method: "POST", site: "same-origin" });
  assert.deepEqual([out.status, out.location], [303, `${site.url}/bye`]);
  assert.ok(showsLogin(await visit(browser, `${site.url}/`)));
  for (const [name, value] of cookies) browser.cookies.set(name, value);
  assert.ok(showsLogin(await visit(browser, `${site.url}/`)), "nor with a copy of the cookies");
});

test("a session ended elsewhere is over at the next validation", async () => {
  let later = 0;
  const clock = () => Date.now() + later;
  const site = await openSite((own) => userFederated(legacy(own), { clock }));
  const browser = testBrowser();
  await settle(browser, await logIn(browser, org, await visit(browser, `${site.url}/`)));
  later = 30_000;
  await running.service.database.query.deleteFrom("session_key").execute();
  assert.equal(
    told(await visit(browser, `${site.url}/`)).subject,
    org.user.id,
    "it was asked half a minute ago",
  );
  later = 61_000;
  const again = await go(browser, `${site.url}/`);
  assert.deepEqual([again.status, new URL(again.location ?? "").pathname], [302, "/federation/Login"]);
});

test("rejects a valid session key of another application", async () => {
  const site = await openSite((own) => userFederated(legacy(own)));
  const account = await makeSystemAccount(running.service, org);
  const service = legacyApiClient({
    federationServer: running.baseUrl,
    systemAccountPublicKey: account.publicKey,
    systemAccountSecretKey: account.secret,
  });
  const { Key } = await service.authentication.login({ Email: org.user.email, Password: org.user.password });
  const browser = testBrowser();
  const sent = await go(browser, `${site.url}/`);
  const returnUrl = new URL(sent.location ?? "").searchParams.get("returnUrl") ?? "";
  const refused = await go(browser, `${returnUrl}&service_key=${Key}`);
  assert.equal(refused.status, 502);
  assert.match(refused.body, /Sign-in failed/);
  assert.equal((await service.keys.validate(Key)).Valid, true);
  assert.equal((await go(browser, `${site.url}/`)).status, 302);
});

test("signs requests for an application that requires signatures", async () => {
  const settings = { requireSignedKeyCalls: true };
  const unsigned = await openSite((own) => userFederated(legacy(own)), settings);
  const browser = testBrowser();
  const failed = await settle(browser, await logIn(browser, org, await visit(browser, `${unsigned.url}/`)));
  assert.equal(failed.status, 502, "and not a loop");

  const { publicKey, secret } = await makeSystemAccount(running.service, org, {
    applicationId: unsigned.applicationId,
    strict: true,
  });
  const keys = { systemAccountPublicKey: publicKey, systemAccountSecretKey: secret };
  unsigned.use(userFederated(legacy(unsigned, keys)));
  assert.equal(told(await visit(browser, `${unsigned.url}/`)).subject, org.user.id);
});

test("a receiver gets the signer of a request and the exact body", async () => {
  const keys = { publicKey: "0198c7a3-1111-7222-8333-444455556666", secretKey: "sgn_sa_receiver" };
  const site = await openSite(({ applicationId }) =>
    systemAccountExternal(
      { filterType: "SystemAccountExternal", federationServer: running.baseUrl, applicationId },
      { secretKeyOf: (publicKey) => (publicKey === keys.publicKey ? keys.secretKey : undefined) },
    ),
  );
  const body = new Uint8Array([0, 255, 10, 13, 0xc3, 0x28]);
  const order = await signRequest(
    new Request(`${site.url}/a/../stock?x=%20&y=1#z`, { method: "PUT", body }),
    keys,
  );
  const copy = order.clone();
  const answer = await fetch(order);
  const { subject, body: received, url } = (await answer.json()) as ReturnType<typeof told>;
  assert.deepEqual([answer.status, subject, url], [200, keys.publicKey, "/stock?x=%20&y=1"]);
  assert.deepEqual(new Uint8Array(Buffer.from(received, "base64")), body);
  assert.equal((await fetch(copy)).status, 401, "the same again");
  const get = await signRequest(new Request(`${site.url}/stock?`), keys);
  assert.equal((await fetch(get)).status, 200);
  assert.equal((await fetch(`${site.url}/stock`)).status, 401);
});
