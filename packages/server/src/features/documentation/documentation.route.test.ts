/** The handbook: each page of the console leads to its chapter. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { seedRecords } from "../../testing/fixtures/planted-records.ts";
import { consoleBrowser } from "../../testing/probes/console-browser.ts";
import { startTestService, type TestService } from "../../testing/test-service.ts";

describe("the handbook of the console", () => {
  let running: TestService;
  before(async () => {
    running = await startTestService({ databaseUrl: "sqlite::memory:" });
  });
  after(() => running.close());

  const handbook = async () => (await fetch(`${running.baseUrl}/docs/console`)).text();
  const idsOf = (text: string) => [...text.matchAll(/<section id="([^"]+)">/g)].map(([, id]) => id);

  test("is public, English, and asks for nothing from elsewhere", async () => {
    const answer = await fetch(`${running.baseUrl}/docs/console`, {
      headers: { "accept-language": "de" },
    });
    assert.equal(answer.status, 200);
    assert.match(answer.headers.get("content-security-policy") ?? "", /default-src 'none'/);
    const text = await answer.text();
    assert.match(text, /<html lang="en">/);
    assert.doesNotMatch(text, /<script|\sstyle=|(src|href)="(https?:)?\/\//);
  });

  test("has one chapter for each entry of the contents, in their order", async () => {
    const text = await handbook();
    const contents = /<nav class="contents"[\s\S]*?<\/nav>/.exec(text)?.[0] ?? "";
    const entries = [...contents.matchAll(/href="#([^"]+)"/g)].map(([, id]) => id);
    assert.ok(entries.length > 10);
    assert.deepEqual(idsOf(text), entries);
  });

  test("every page of the navigation links its own chapter, and the navigation ends with help", async () => {
    const org = await seedRecords(running.service, "Acme");
    const here = await consoleBrowser(running, org);
    const chapters = idsOf(await handbook());
    const { body } = await here.get("");
    const menu = /<nav class="menu"[\s\S]*?<\/nav>/.exec(body)?.[0] ?? "";
    const links = [...menu.matchAll(/id="nav-(\w+)" href="([^"]+)"/g)].map(([, id = "", uri = ""]) => ({
      id,
      uri,
    }));
    assert.deepEqual(links.at(-1), { id: "help", uri: "/docs/console" });
    const pages = links.filter(({ id }) => id !== "help");
    assert.ok(pages.length > 12);
    for (const { id, uri } of pages) {
      const page = await (await here.browser.get(running.baseUrl + uri)).body;
      assert.match(page, new RegExp(`id="learn-more" href="/docs/console#${id}"`), uri);
      assert.match(page, new RegExp(`id="nav-${id}"[^>]* aria-current="page"`), uri);
      assert.ok(chapters.includes(id), id);
    }
  });
});
