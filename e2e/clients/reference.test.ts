/** The API reference in real Chromium: readable by everyone, in light and dark, on a phone and on a desk. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Browser } from "playwright-core";
import { launchBrowser } from "../support/browser.ts";
import { assertUsable, watchPage } from "../support/page-watch.ts";
import { startServerInProcess } from "../support/server-here.ts";
import type { RunningServer } from "../support/server-process.ts";

let browser: Browser;
let server: RunningServer;
before(async () => {
  // The reference is one page of hundreds of operations, which axe goes through twice: here code that is optimised pays.
  browser = await launchBrowser(["--js-flags=--opt"]);
  server = await startServerInProcess();
});
after(async () => {
  await browser.close();
  await server.stop();
});

test("without JavaScript: linked from the start page, with a table of contents", async (t) => {
  const context = await browser.newContext({ javaScriptEnabled: false });
  t.after(() => context.close());
  const page = await context.newPage();
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.goto(`${server.baseUrl}/`);
  await page.click('a[href="/docs"]');
  await page.click('.contents a[href="#createClient"]');
  assert.equal(new URL(page.url()).hash, "#createClient");
  const operation = page.locator("#createClient");
  await operation.locator("summary", { hasText: "Shell example" }).click();
  assert.match((await operation.locator("details[open] pre").textContent()) ?? "", /openssl dgst/);
  await operation.locator('a[href="#record-CreatedClient"]').click();
  assert.equal(new URL(page.url()).hash, "#record-CreatedClient");
});

test("accessible in light and dark, without third-party requests", async (t) => {
  const context = await browser.newContext();
  t.after(() => context.close());
  const page = await context.newPage();
  const watch = await watchPage(page);
  await page.goto(`${server.baseUrl}/docs`);
  assert.deepEqual(
    watch.requests
      .map((request) => new URL(request.url()).host)
      .filter((host) => host !== new URL(server.baseUrl).host),
    [],
  );
  assert.deepEqual(watch.faults, []);
  await assertUsable(page, "the reference");
});
