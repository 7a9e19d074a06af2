/**
 * Every page of the console and of an account, as they are registered, in real Chromium: usable by everyone in light and in
 * dark, on a phone and on a desk, nothing foreign asked for, no policy broken, and nothing moves while it loads (pages.md).
 */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Browser, Page, Response } from "playwright-core";
import { launchBrowser } from "../support/browser.ts";
import { assertUsable, axeFile, watchPage } from "../support/page-watch.ts";
import { type ConsoleFixture, consoleFixture, signInAt } from "./console-fixture.ts";

/** The share of the window that may move: nothing that anybody sees. */
const MOST_SHIFT = 0.01;

const noteShifts = `window.shifted = 0;
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) window.shifted += entry.value;
}).observe({ type: "layout-shift", buffered: true });`;

const saidTwice = `[...document.querySelectorAll("main h2")].some(
  ({ innerText }) => innerText === document.querySelector("h1").innerText,
)`;

let fixture: ConsoleFixture;
let browser: Browser;
before(async () => {
  fixture = await consoleFixture();
  browser = await launchBrowser();
});
after(async () => {
  await browser.close();
  await fixture.close();
  assert.deepEqual(fixture.running.errors, []);
});

/**
 * What a GET of some addresses answers is no page: a file, a piece of one that a script asks for, or a mail for the frame of
 * its page, in whose sandbox no script runs, not even one that looks for faults.
 */
async function isPage(answer: Response | undefined): Promise<boolean> {
  if (answer === undefined) return false;
  const { "content-security-policy": policy = "", "content-type": type = "" } = answer.headers();
  if (policy.includes("sandbox") || !type.startsWith("text/html")) return false;
  return (await answer.text()).includes("<html");
}

/** A file is saved by the browser, which stays where it was. */
async function openPage(page: Page, url: string): Promise<Response | undefined> {
  return page.goto(url).then(
    (answer) => answer ?? undefined,
    (error: Error) => {
      if (/Download is starting/.test(error.message)) return undefined;
      throw error;
    },
  );
}

const background = (page: Page) => page.evaluate("getComputedStyle(document.body).backgroundColor");

test("every page is accessible in light and dark, makes no third-party request and doesn't shift", async (t) => {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  t.after(() => context.close());
  const page = await context.newPage();
  await page.addInitScript(noteShifts);
  // Sent once for all pages, where `assertUsable` would send it for each.
  await page.addInitScript({ path: axeFile });
  const watch = await watchPage(page);
  await signInAt(page, `${fixture.baseUrl}/oauth/manage/${fixture.orgId}/confirm-identity`, fixture.admin);
  let seen = 0;
  for (const { name, url } of fixture.pages) {
    watch.reset();
    if (!(await isPage(await openPage(page, url)))) continue;
    await page.locator("h1").waitFor();
    assert.equal(await page.evaluate(saidTwice), false, `${name}: a card says the page's title again`);
    const shifted = await page.evaluate("window.shifted");
    assert.ok(Number(shifted) <= MOST_SHIFT, `${name} shifts by ${shifted}`);
    const foreign = watch.requests.filter((request) => new URL(request.url()).origin !== fixture.baseUrl);
    assert.deepEqual(
      foreign.map((request) => request.url()),
      [],
      name,
    );
    await assertUsable(page, name);
    assert.deepEqual(watch.faults, [], name);
    seen += 1;
  }
  assert.ok(seen >= 60, `${seen} pages`);
  const light = await background(page);
  await page.emulateMedia({ colorScheme: "dark" });
  assert.notEqual(await background(page), light, "dark is dark");
});

/** Stylesheet, scripts, font and page, as they are sent to a browser that has none of them. */
const MOST_BYTES = 120_000;
const MOST_BYTES_OF_HOME = 112_000;

test("a console page weighs at most 120 KB in all, and Home 112", async (t) => {
  const context = await browser.newContext();
  t.after(() => context.close());
  await signInAt(await context.newPage(), `${fixture.baseUrl}/oauth/manage/${fixture.orgId}`, fixture.admin);
  const storageState = await context.storageState();
  for (const name of [
    "console",
    "console-quickstart",
    "console-audit-log",
    "console-applications-id",
    "console-pools-pool",
  ]) {
    const fresh = await browser.newContext({ storageState });
    const page = await fresh.newPage();
    const watch = await watchPage(page);
    await page.goto(fixture.pages.find((one) => one.name === name)?.url ?? "", { waitUntil: "networkidle" });
    const sizes = await Promise.all(watch.requests.map((request) => request.sizes()));
    const bytes = sizes.reduce((sum, size) => sum + size.responseHeadersSize + size.responseBodySize, 0);
    assert.ok(
      watch.requests.some((request) => request.url().endsWith(".woff2")),
      `${name} has its font`,
    );
    const most = name === "console" ? MOST_BYTES_OF_HOME : MOST_BYTES;
    assert.ok(bytes < most, `${name}: ${bytes} bytes`);
    t.diagnostic(`${name}: ${bytes} bytes`);
    await fresh.close();
  }
});
