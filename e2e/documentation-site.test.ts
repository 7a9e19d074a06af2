/** The documentation site as it is built from this repository: whole, usable by everyone, searchable, and without anything from elsewhere. */
import assert from "node:assert/strict";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import fastify, { type FastifyInstance } from "fastify";
import type { Page } from "playwright-core";
import { buildDocumentation } from "../docs/site/build.ts";
import { addressOf, pages } from "../docs/site/pages.ts";
import { siteRoute } from "../packages/server/src/features/documentation/site.route.ts";
import { documentationSite } from "../packages/server/src/features/documentation/site-files.ts";
import { eventually } from "../packages/server/src/testing/eventually.ts";
import { freePort } from "../packages/server/src/testing/free-port.ts";
import { launchBrowser } from "./support/browser.ts";
import { assertUsable, keepPictures, watchPage } from "./support/page-watch.ts";

const BUILD_MS = 300_000;

let folder: string;
let app: FastifyInstance;
let origin: string;
before(
  async () => {
    folder = await mkdtemp(path.join(tmpdir(), "signet-test-site-"));
    await buildDocumentation(folder);
    const site = documentationSite(Date.now, async () => folder);
    await eventually("the site is open", () => site().kind === "ready");
    app = fastify();
    siteRoute(app, { clock: Date.now, site });
    const port = await freePort();
    await app.listen({ host: "127.0.0.1", port });
    origin = `http://127.0.0.1:${port}`;
  },
  { timeout: BUILD_MS },
);
after(async () => {
  await app?.close();
  await rm(folder, { recursive: true, force: true });
});

const htmlOf = (place: string) => readFile(path.join(folder, `${place}.html`), "utf8");

test("every page is there, by its title, and every link within the site leads somewhere", async () => {
  const ids = new Map<string, ReadonlySet<string>>();
  const links: string[] = [];
  for (const [file, place] of [["", "index"] as const, ...pages]) {
    const html = await htmlOf(place);
    if (file !== "") assert.match(html, /<h1 /, place);
    assert.doesNotMatch(html, /<script(?![^>]* src=)[^>]*>|<[a-z][^<>]* style="/, place);
    ids.set(
      `/docs${addressOf(place)}`,
      new Set([...html.matchAll(/ id="([^"]+)"/g)].map(([, id = ""]) => id)),
    );
    const main = /<main[\s\S]*<\/main>/.exec(html)?.[0] ?? "";
    for (const [, href = ""] of main.matchAll(/ href="(\/docs\/[^"]*|#[^"]+)"/g))
      links.push(href.startsWith("#") ? `/docs${addressOf(place)}${href}` : href);
  }
  const dead = [...new Set(links)].filter((link) => {
    const [page = "", anchor] = decodeURIComponent(link).split("#");
    const known = ids.get(page);
    return known === undefined || (anchor !== undefined && !known.has(anchor));
  });
  assert.deepEqual(
    dead.filter((link) => !/^\/docs\/(?:api|console)$/.test(link)),
    [],
  );
  assert.ok(links.length > 300);
});

/** The keys are heard once the page's script has loaded, and the field is there once the search has: both come late. */
async function openSearch(page: Page): Promise<void> {
  const field = page.locator("#localsearch-input");
  for (let attempt = 1; attempt <= 5; attempt += 1) {
    await page.keyboard.press("Control+k");
    const isThere = await field.waitFor({ timeout: 15_000 }).then(
      () => true,
      () => false,
    );
    if (isThere) return;
  }
  await field.waitFor();
}

test("it is read, searched and followed in a browser, in light and dark, without anything from elsewhere", async () => {
  const browser = await launchBrowser();
  try {
    const page = await browser.newPage();
    const watch = await watchPage(page);
    await page.goto(`${origin}/docs/`);
    await page.getByRole("link", { name: "Quick starts" }).first().click();
    await page.getByRole("heading", { level: 1, name: "Guides" }).waitFor();
    await page.goto(`${origin}/docs/sdk/organisations`);
    await page.getByRole("heading", { level: 1, name: "Several organisations" }).waitFor();
    await assertUsable(page, "documentation-page");
    await keepPictures(page, "documentation-page");
    await openSearch(page);
    await page.locator("#localsearch-input").fill("replay memory");
    await page.locator("#localsearch-list a").first().waitFor();
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/docs\/sdk\/[\w/-]+/);
    assert.deepEqual(watch.faults, []);
    const elsewhere = watch.requests.filter(
      (request) => !request.url().startsWith(origin) && !request.url().startsWith("data:"),
    );
    assert.deepEqual(
      elsewhere.map((request) => request.url()),
      [],
    );
  } finally {
    await browser.close();
  }
});
