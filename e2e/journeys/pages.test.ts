/** Every page of the browser flow, in real Chromium, in light and in dark, on a phone and on a desk (pages.md). */
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, test } from "node:test";
import { createRemoteJWKSet, jwtVerify } from "jose";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import type { DemoFile } from "../../packages/server/src/cli/demo/demo-file.ts";
import { authorizationRequest } from "../../packages/server/src/testing/fakes/browser.ts";
import { type ApplicationSite, openApplicationSite } from "../clients/application-site.ts";
import { launchBrowser } from "../support/browser.ts";
import { assertUsable, keepPictures, type PageWatch, watchPage } from "../support/page-watch.ts";
import { type ServerProcess, startServer } from "../support/server-process.ts";
import { allow, allowIfAsked, signIn } from "./sign-in-steps.ts";

const weightLimit = 25_000;

let site: ApplicationSite;
let browser: Browser;
let server: ServerProcess;
let demo: DemoFile;
before(async () => {
  site = await openApplicationSite();
  browser = await launchBrowser(site.flagsToServe(["127.0.0.1:8765", "localhost:8765"]));
  server = await startServer({ settings: { SIGNET_RATE_LIMITS: "password-account=2/900" } });
  demo = await server.demo();
});
after(async () => {
  await browser.close();
  await server.stop();
  await site.close();
});

test("every page is accessible in light and dark, makes no third-party request and violates no CSP", async (t) => {
  const { page, watch } = await newPage(t);
  const look = async (name: string, heading: RegExp, scripts: RegExp[] = []) => {
    await page.getByRole("heading", { level: 1, name: heading }).waitFor();
    assert.deepEqual(foreignRequests(watch, scripts), [], name);
    await assertUsable(page, name);
    await keepPictures(page, name);
    assert.deepEqual(watch.faults, [], name);
    watch.reset();
  };
  await page.goto(demo.baseUrl);
  await look("landing", /^Signet is running$/);
  await lookAtSignIn(page, look);
  await signIn(page, demo.user);
  await look("consent", /^Allow Demo web app to access your account\?$/);
  await allow(page);
  await site.callback();
  await page.waitForURL((url) => url.pathname === "/callback");

  await page.goto(authorizeUrl({ prompt: "select_account" }));
  watch.reset();
  await look("account choice", /^Choose an account/);
  await page.goto(authorizeUrl({ redirect_uri: "https://elsewhere.example/" }));
  await look("error", /^This request can’t be completed$/);
  assert.equal(await page.locator(".brand-name").innerText(), "Demo");
  await page.getByRole("link", { name: "Go to Demo web app" }).waitFor();
  await page.goto(`${demo.baseUrl}/oauth/00000000-0000-7000-8000-000000000000/authorize`);
  await look("unknown organisation", /^Page not found$/);
  // Held back, as the page would be gone at once.
  await page.route("**/assets/form-post.*", (route) =>
    route.fulfill({ contentType: "text/javascript", body: "" }),
  );
  await page.goto(authorizeUrl({ response_mode: "form_post" }));
  await look("form post", /^Taking you to Demo web app$/, [/\/form-post\.\w+\.js$/]);

  await page.goto(`${demo.baseUrl}/demo/try`);
  await allowIfAsked(page, page.locator("#demo-sign-out"));
  await look("tokens", /^You’re signed in$/, [/\/copy\.\w+\.js$/]);
  await page.goto(`${demo.issuer}/end_session`);
  await look("sign-out", /^Sign out of Demo\?$/);
  await page.locator("#logout-confirm").click();
  await look("signed out", /^You’re signed out$/);
});

type Look = (name: string, heading: RegExp, scripts?: RegExp[]) => Promise<void>;

/** What the sign-in page asks for beside its stylesheet: passkeys need a script. */
const signInScript = [/\/sign-in\.\w+\.js$/];

/** The sign-in page and all that it says when it does not go well; leaves it ready for the next attempt. */
async function lookAtSignIn(page: Page, look: Look): Promise<void> {
  const heading = /^Sign in to Demo web app$/;
  await page.goto(authorizeUrl({ prompt: "consent" }));
  await look("sign-in", heading, signInScript);
  const stranger = { email: `stranger-${Math.random()}@demo.example`, password: "not the password" };
  for (const notice of [
    /^Incorrect email or password/,
    /^Incorrect email or password/,
    /^Too many attempts/,
  ]) {
    await signIn(page, stranger);
    await page.getByText(notice).waitFor();
    assert.equal(await page.locator("#email").inputValue(), stranger.email, "what was typed is kept");
    assert.equal(await page.locator("#password").inputValue(), "", "but for the password");
    await look(`sign-in: ${notice}`, heading, signInScript);
  }
  await page.context().clearCookies();
  await signIn(page, demo.user);
  await page.getByText("This page has expired").waitFor();
  await look("sign-in: too late", heading, signInScript);
}

test("the sign-in page takes three requests and under 25 KB", async (t) => {
  const { page, watch } = await newPage(t);
  await page.goto(authorizeUrl());
  assert.deepEqual(
    watch.requests.map((request) => request.resourceType()),
    ["document", "stylesheet", "script"],
  );
  const sizes = await Promise.all(watch.requests.map((request) => request.sizes()));
  const bytes = sizes.reduce((sum, size) => sum + size.responseHeadersSize + size.responseBodySize, 0);
  t.diagnostic(`${bytes} bytes`);
  assert.ok(bytes > 1_000 && bytes < weightLimit, `${bytes} bytes`);
});

/** Libraries that the program loads when they are needed, from its bundle, where the other tests run the sources. */
test("an authenticator app is offered by its QR code, and a wrong first code is refused", async (t) => {
  const { page, watch } = await newPage(t);
  await page.goto(`${demo.issuer}/account/security/authenticator`);
  await signIn(page, demo.user);
  await page.locator("svg.qr path").waitFor();
  await page.locator("#code").fill("000000");
  await page.locator("main button.primary").click();
  await page.locator("#code[aria-invalid=true]").waitFor();
  await page.locator("svg.qr path").waitFor();
  assert.deepEqual(watch.faults, []);
});

test("without JavaScript: sign-in, consent and form_post by a button", async (t) => {
  const { page } = await newPage(t, { javaScriptEnabled: false });
  await page.goto(authorizeUrl({ response_mode: "form_post", prompt: "consent" }));
  await signIn(page, demo.user);
  await allow(page);
  await page.locator("#form-post-submit").click();
  const { method, body } = await site.callback();
  assert.equal(method, "POST");
  assert.match(new URLSearchParams(body).get("code") ?? "", /^sgn_ac_/);
});

test("the demo: from the landing page to the decoded tokens and sign-out", async (t) => {
  const { page, watch } = await newPage(t, { permissions: ["clipboard-read", "clipboard-write"] });
  await page.goto(demo.baseUrl);
  await page.locator("#demo-try").click();
  await signIn(page, demo.user);
  await allowIfAsked(page, page.locator("#demo-sign-out"));
  assert.equal(new URL(page.url()).pathname, "/demo/callback");
  const verified = page.getByText(/^Signature verified \(ES256\)$/);
  await verified.nth(1).waitFor();
  assert.equal(await verified.count(), 2);
  const shown = await page.locator("section:has(#id-token-title) pre").nth(1).innerText();
  const payload = JSON.parse(shown) as { aud: string; iss: string };
  assert.deepEqual([payload.aud, payload.iss], [demo.spaApp.clientId, demo.issuer]);

  await page.locator("section:has(#access-token-title) summary").last().click();
  await page.locator("button[data-copy=access-token-encoded]").click();
  await page.getByRole("status").getByText("Copied").waitFor();
  const copied = String(await page.evaluate("navigator.clipboard.readText()"));
  const keys = createRemoteJWKSet(new URL(`${demo.issuer}/.well-known/jwks.json`));
  assert.equal((await jwtVerify(copied, keys, { typ: "at+jwt" })).payload.iss, demo.issuer);

  await page.locator("#demo-sign-out").click();
  await page.locator("#logout-confirm").click();
  await page.getByRole("heading", { name: "You’re signed out" }).waitFor();
  assert.deepEqual(watch.faults, []);
  await page.goto(`${demo.baseUrl}/demo/try`);
  await page.locator("#login-submit").waitFor();
});

test("a same-site page of another origin can neither frame a page nor submit its forms", async (t) => {
  const { page } = await newPage(t);
  await page.goto(authorizeUrl({ prompt: "consent" }));
  await signIn(page, demo.user);
  await page.locator("#consent-allow").waitFor();
  const consent = page.url();
  const fields = await page.evaluate(
    "[...document.querySelectorAll('form input')].map(({ name, value }) => [name, value])",
  );
  await page.goto("http://localhost:8765/");
  await page.evaluate(`document.body.innerHTML = '<iframe src="${consent}"></iframe>'`);
  await page.frameLocator("iframe").locator("body").waitFor({ state: "attached" });
  assert.equal(await page.frameLocator("iframe").locator("#consent-allow").count(), 0);

  await page.evaluate(`{
    const form = Object.assign(document.createElement("form"), { method: "post", action: "${demo.issuer}/authorize" });
    for (const [name, value] of [...${JSON.stringify(fields)}, ["decision", "allow"]])
      form.append(Object.assign(document.createElement("input"), { name, value }));
    document.body.append(form);
    form.submit();
  }`);
  await page.locator("#consent-allow").waitFor();
});

test("a sign-in in a window that the application opened tells the application, and the console keeps no opener", async (t) => {
  const { page } = await newPage(t);
  await page.goto("http://127.0.0.1:8765/");
  const opened = page.waitForEvent("popup");
  await page.evaluate(
    `window.open(${JSON.stringify(authorizeUrl({ prompt: "consent" }))}, "sign-in", "popup")`,
  );
  const popup = await opened;
  await signIn(popup, { email: demo.user.email, password: "not the password" });
  await popup.getByText("Incorrect email or password").waitFor();
  await signIn(popup, demo.user);
  await allow(popup);
  await popup.waitForURL((url) => url.pathname === "/callback");
  const told = page.evaluate(
    "new Promise((resolve) => addEventListener('message', ({ data }) => resolve(data)))",
  );
  await popup.evaluate("opener.postMessage(location.search, location.origin)");
  assert.match(String(await told), /code=sgn_ac_/);
  await popup.goto(`${demo.baseUrl}/`);
  assert.equal(await popup.evaluate("opener"), null);
});

test("follows a callback that redirects to another origin, from a redirect and from form_post", async (t) => {
  const { page } = await newPage(t);
  const onward = createServer((request, response) => {
    const { port } = onward.address() as AddressInfo;
    if (request.url?.startsWith("/callback"))
      response.writeHead(302, { location: `http://localhost:${port}/home` });
    response.end("home");
  }).listen(0);
  t.after(() => onward.close());
  await once(onward, "listening");
  const { port } = onward.address() as AddressInfo;
  const redirectUri = `http://127.0.0.1:${port}/callback`;
  for (const more of [{ prompt: "consent" }, { prompt: "consent", response_mode: "form_post" }]) {
    const { query } = authorizationRequest(demo.nativeApp.clientId, redirectUri, more);
    await page.goto(`${demo.issuer}/authorize?${query}`);
    if (await page.locator("#password").isVisible()) await signIn(page, demo.user);
    await allow(page);
    await page.waitForURL(`http://localhost:${port}/home`);
  }
});

function authorizeUrl(more: Record<string, string> = {}): string {
  const redirectUri = String(demo.webApp.redirectUris[0]);
  return `${demo.issuer}/authorize?${authorizationRequest(demo.webApp.clientId, redirectUri, more).query}`;
}

/** All but our own documents, the stylesheet and the page's scripts. */
function foreignRequests(watch: PageWatch, scripts: RegExp[]): string[] {
  const isExpected = (url: string, kind: string) =>
    url.startsWith(`${demo.baseUrl}/`) &&
    (kind === "document" ||
      (kind === "stylesheet" && /\/assets\/signet\.\w+\.css$/.test(url)) ||
      (kind === "script" && scripts.some((script) => script.test(url))));
  return watch.requests
    .map((request) => [request.url(), request.resourceType()] as const)
    .filter(([url, kind]) => !isExpected(url, kind))
    .map(([url, kind]) => `${kind} ${url}`);
}

async function newPage(
  t: { after(work: () => Promise<void>): void },
  options: BrowserContextOptions = {},
): Promise<{ page: Page; watch: PageWatch }> {
  const context = await browser.newContext(options);
  site.forget();
  t.after(() => context.close());
  const page = await context.newPage();
  return { page, watch: await watchPage(page) };
}
