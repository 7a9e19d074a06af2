/** A single-page application with @signet/react in real Chromium: two tabs, tokens that expire, sign-outs here and elsewhere. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { gzipSync } from "node:zlib";
import { middleware } from "@signet/client-sdk";
import { authenticateNodeRequest, sendWebResponse } from "@signet/client-sdk/node";
import { createTestIssuer, type TestIssuer } from "@signet/testing";
import { type BuildOptions, build } from "esbuild";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { freePort } from "../../packages/server/src/testing/free-port.ts";
import { launchBrowser } from "../support/browser.ts";

const AUDIENCE = "https://orders.example";
const root = path.join(import.meta.dirname, "..", "..");

async function bundle(entry: string, options: BuildOptions = {}): Promise<string> {
  const common = { bundle: true, format: "esm", write: false, minify: true, logLevel: "silent" } as const;
  const define = { "process.env.NODE_ENV": '"production"' };
  const { outputFiles = [] } = await build({
    entryPoints: [entry],
    ...common,
    define,
    ...options,
    write: false,
  });
  return outputFiles[0]?.text ?? assert.fail("no bundle");
}

test("the client and its hooks are at most 12 KB, as a browser loads them", async (t) => {
  const text = await bundle(path.join(root, "packages/react/src/index.ts"), { external: ["react"] });
  const bytes = gzipSync(text, { level: 9 }).length;
  t.diagnostic(`${bytes} bytes`);
  assert.ok(bytes <= 12 * 1024, `${bytes} bytes`);
  assert.ok(bytes > 1_000, "everything is in it");
});

let movedMs = 0;
let issuer: TestIssuer;
let browser: Browser;
let server: Server;
let url: string;

before(async () => {
  const [port, text] = [
    await freePort(),
    await bundle(path.join(root, "packages/react/src/testing/example-app.ts")),
  ];
  url = `http://localhost:${port}`;
  issuer = await createTestIssuer({
    users: [
      { email: "ada@acme.example", firstname: "Ada", surname: "Lovelace" },
      { email: "bob@acme.example", firstname: "Bob", surname: "Baker" },
    ],
    applications: [
      { name: "Orders", clientType: "spa", url, audience: AUDIENCE, accessTokenLifetimeSeconds: 600 },
    ],
    clock: () => Date.now() + movedMs,
  });
  const { clientId } = issuer.application("orders");
  const settings = { issuer: issuer.issuer, clientId, api: `${url}/api` };
  const page = `<!doctype html><html lang="en"><title>Orders</title><div id="root"></div><script>settings=${JSON.stringify(settings)}</script><script type="module" src="/app.js"></script></html>`;
  const api = middleware(
    { filterType: "OAuthUserBearer", issuer: issuer.issuer, audience: AUDIENCE, baseUrl: url },
    { clock: () => Date.now() + movedMs },
  );
  server = createServer(async (request, response) => {
    if (request.url === "/api") {
      const result = await authenticateNodeRequest(api, request, { baseUrl: url });
      if (result.kind === "answer") return sendWebResponse(result.response, response);
      return response.end(
        `${request.headers.authorization?.split(" ")[0]} ${result.kind === "authenticated" && result.principal.sub}`,
      );
    }
    const isScript = request.url === "/app.js";
    response.setHeader("content-type", isScript ? "text/javascript" : "text/html; charset=utf-8");
    return response.end(isScript ? text : page);
  }).listen(port, "127.0.0.1");
  await once(server, "listening");
  browser = await launchBrowser();
});
after(async () => {
  await browser?.close();
  server?.close();
  await issuer?.stop();
});

const shown = (page: Page, id: string) => page.locator(`#${id}`).innerText();
const isIn = (page: Page) => page.locator("#user").waitFor();
const isOut = (page: Page) => page.locator("#sign-in").waitFor();

async function withTabs(
  act: (context: BrowserContext, tab: () => Promise<Page>) => Promise<void>,
): Promise<void> {
  const context = await browser.newContext();
  const faults: string[] = [];
  try {
    await act(context, async () => {
      const page = await context.newPage();
      page.on("pageerror", ({ message }) => faults.push(message));
      await page.goto(url);
      return page;
    });
    assert.deepEqual(faults, []);
  } finally {
    await context.close();
  }
}

async function signedIn(tab: () => Promise<Page>): Promise<Page> {
  const page = await tab();
  await issuer.signInAs(page, "ada@acme.example");
  await page.locator("#sign-in").click();
  await isIn(page);
  return page;
}

describe("a single-page application", () => {
  test("signs a person in with the issuer's form, calls an API with a bound token, and keeps the code out of the address", () =>
    withTabs(async (_context, tab) => {
      const page = await tab();
      await page.locator("#sign-in").click();
      const { email, password } = issuer.user("ada@acme.example");
      await page.locator("input[name=email]").fill(email);
      await page.locator("input[name=password]").fill(password);
      await page.locator("#login-submit").click();
      await isIn(page);
      assert.equal(await shown(page, "user"), "Ada Lovelace ada@acme.example");
      assert.equal(page.url(), `${url}/orders?page=2`);
      await page.locator("#call").click();
      await page.locator("#answer").filter({ hasText: "200" }).waitFor();
      assert.equal(await shown(page, "answer"), `200 DPoP ${issuer.user(email).id}`);
      const token = await shown(page, "token");
      const stolen = await fetch(`${url}/api`, { headers: { authorization: `Bearer ${token}` } });
      assert.equal(stolen.status, 401, "a token without its key is worth nothing");
      assert.equal(await page.evaluate(extractKey), "not extractable");
    }));

  test("a second tab takes up the session, and both show one token after a renewal of either", () =>
    withTabs(async (_context, tab) => {
      const one = await signedIn(tab);
      const other = await tab();
      await isIn(other);
      const token = await shown(one, "token");
      assert.equal(await shown(other, "token"), token);
      await Promise.all([one.locator("#renew").click(), other.locator("#renew").click()]);
      for (const page of [one, other]) await page.locator("#token").filter({ hasNotText: token }).waitFor();
      await one.reload();
      await isIn(one);
      await other.locator("#call").click();
      await other.locator("#answer").filter({ hasText: "200" }).waitFor();
    }));

  test("a token is renewed before it expires, by one of two tabs, and a reload keeps the person signed in", () =>
    withTabs(async (context, tab) => {
      await context.clock.install();
      const one = await signedIn(tab);
      const other = await tab();
      await isIn(other);
      const token = await shown(one, "token");
      const exchanges: string[] = [];
      // Not those that are asked for another nonce (RFC 9449 §8): the one of the sign-in has expired as well.
      context.on("response", (response) => {
        if (response.request().method() === "POST" && response.url().endsWith("/token") && response.ok())
          exchanges.push(response.url());
      });
      try {
        movedMs = 580_000;
        await context.clock.fastForward(580_000);
        for (const page of [one, other]) await page.locator("#token").filter({ hasNotText: token }).waitFor();
        assert.equal(await shown(one, "token"), await shown(other, "token"));
        assert.equal(exchanges.length, 1, "one tab renews, the other takes what it got");
        await one.locator("#call").click();
        await one.locator("#answer").filter({ hasText: "200" }).waitFor();
      } finally {
        movedMs = 0;
      }
    }));

  test("a sign-out in one tab is one in the other, and at the issuer", () =>
    withTabs(async (_context, tab) => {
      const one = await signedIn(tab);
      const other = await tab();
      await isIn(other);
      // A tab shows the sign-in before it has been to the issuer and back.
      const back = one.waitForResponse(
        (answer) => answer.url() === `${url}/` && answer.request().isNavigationRequest(),
      );
      await one.locator("#sign-out").click();
      await isOut(other);
      await back;
      await isOut(one);
      await issuer.expectSignedOut(one);
      assert.equal(new URL(one.url()).pathname, "/");
      await other.reload();
      await isOut(other);
    }));

  test("who is signed out in another browser is signed out here at the next renewal, in every tab", () =>
    withTabs(async (_context, tab) => {
      const one = await signedIn(tab);
      const other = await tab();
      await isIn(other);
      await issuer.signOutEverywhere("ada@acme.example");
      await one.locator("#renew").click();
      await isOut(one);
      await isOut(other);
    }));

  test("an API that refuses a token gets another one; an ended session ends with the call", () =>
    withTabs(async (_context, tab) => {
      const page = await signedIn(tab);
      await issuer.signOutEverywhere("ada@acme.example");
      await page.reload();
      await isIn(page);
      await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 0)));
      await page.locator("#renew").click();
      await isOut(page);
    }));

  test("a forged response, and one of another issuer, sign nobody in", () =>
    withTabs(async (_context, tab) => {
      const page = await tab();
      await page.goto(`${url}/?code=stolen&state=forged`);
      await isOut(page);
      await page.route("**/authorize?*", async (route) => {
        const asked = new URL(route.request().url()).searchParams;
        const answer = new URLSearchParams({
          code: "c",
          state: asked.get("state") ?? "",
          iss: "https://evil.example",
        });
        await route.fulfill({ status: 302, headers: { location: `${url}/?${answer}` } });
      });
      await page.locator("#sign-in").click();
      await page.locator("#error").filter({ hasText: "another issuer" }).waitFor();
      assert.equal(await shown(page, "status"), "signed-out");
    }));
});

/** In the page: what anyone who runs script there would try. */
async function extractKey(): Promise<string> {
  const { indexedDB } = globalThis as unknown as {
    readonly indexedDB: {
      databases(): Promise<{ name: string }[]>;
      open(name: string): { result: unknown; onsuccess: () => void };
    };
  };
  const [{ name } = { name: "" }] = await indexedDB.databases();
  const key = await new Promise<{ privateKey: CryptoKey }>((resolve) => {
    const opening = indexedDB.open(name);
    opening.onsuccess = () => {
      const database = opening.result as {
        transaction(store: string): {
          objectStore(store: string): { get(key: string): { result: never; onsuccess: () => void } };
        };
      };
      const reading = database.transaction("values").objectStore("values").get("dpop-key");
      reading.onsuccess = () => resolve(reading.result);
    };
  });
  return crypto.subtle.exportKey("jwk", key.privateKey).then(
    () => "extracted",
    () => "not extractable",
  );
}
