/**
 * Every page of the console and of an account, as they are registered, in real Chromium: usable by everyone in light and in
 * dark, on a phone and on a desk, nothing foreign asked for, no policy broken, and nothing moves while it loads (pages.md).
 */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import axe from "axe-core";
import type { Browser, Page } from "playwright-core";
import { launchBrowser } from "./browser.ts";
import { type ConsoleScene, consoleScene, signInAt } from "./console-scene.ts";
import { assertUsable, watchPage } from "./page-watch.ts";

/** The share of the window that may move: nothing that anybody sees. */
const MOST_SHIFT = 0.01;

const noteShifts = `window.shifted = 0;
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) window.shifted += entry.value;
}).observe({ type: "layout-shift", buffered: true });`;

let scene: ConsoleScene;
let browser: Browser;
before(async () => {
  scene = await consoleScene();
  browser = await launchBrowser();
});
after(async () => {
  await browser.close();
  await scene.close();
  assert.deepEqual(scene.running.errors, []);
});

async function administratorsPage(colorScheme: "light" | "dark") {
  const context = await browser.newContext({ colorScheme, viewport: { width: 1280, height: 800 } });
  const page = await context.newPage();
  await page.addInitScript(noteShifts);
  const watch = await watchPage(page);
  await signInAt(page, `${scene.baseUrl}/oauth/manage/${scene.orgId}/confirm-identity`, scene.admin);
  return { context, page, watch };
}

/**
 * What a GET of these answers is no page: a file, a piece of one that a script asks for, or a mail for the frame of its page,
 * in whose sandbox no script runs, not even one that looks for faults.
 */
async function isPage(page: Page, url: string): Promise<boolean> {
  const answer = await page.request.get(url, { headers: { accept: "text/html" } });
  if ((answer.headers()["content-security-policy"] ?? "").includes("sandbox")) return false;
  const text = await answer.text();
  return (answer.headers()["content-type"] ?? "").startsWith("text/html") && text.includes("<html");
}

test("in light, every page is usable by everyone, asks for nothing foreign and stays where it is", async (t) => {
  const { context, page, watch } = await administratorsPage("light");
  t.after(() => context.close());
  let seen = 0;
  for (const { name, url } of scene.pages) {
    if (!(await isPage(page, url))) continue;
    watch.reset();
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.goto(url);
    await page.locator("h1").waitFor();
    const shifted = await page.evaluate("window.shifted");
    assert.ok(Number(shifted) <= MOST_SHIFT, `${name} shifts by ${shifted}`);
    const foreign = watch.requests.filter((request) => new URL(request.url()).origin !== scene.baseUrl);
    assert.deepEqual(
      foreign.map((request) => request.url()),
      [],
      name,
    );
    await assertUsable(page, name);
    assert.deepEqual(watch.faults, [], name);
    seen += 1;
  }
  assert.ok(seen >= 30, `${seen} pages`);
});

test("in dark, every page can be read", async (t) => {
  const { context, page } = await administratorsPage("dark");
  t.after(() => context.close());
  for (const { name, url } of scene.pages) {
    if (!(await isPage(page, url))) continue;
    await page.goto(url);
    await page.locator("h1").waitFor();
    await page.evaluate(axe.source);
    const { violations } = (await page.evaluate(
      `axe.run(document, { runOnly: ["color-contrast"], resultTypes: ["violations"] })`,
    )) as axe.AxeResults;
    assert.deepEqual(
      violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`)),
      [],
      name,
    );
  }
});
