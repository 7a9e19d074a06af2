/** The list of devices and the chart beside it: what the address says of one survives a change of the other. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { type TestBrowser, testBrowser } from "../../../testing/fakes/browser.ts";
import { enrolledByCode } from "../../../testing/fixtures/enrolments.ts";
import { type SeededRecords, seedRecords } from "../../../testing/fixtures/planted-records.ts";
import { follow, logIn } from "../../../testing/fixtures/visit.ts";
import { startTestService, type TestService } from "../../../testing/test-service.ts";

describe("devices over time, beside their list", () => {
  let running: TestService;
  let org: SeededRecords;
  let browser: TestBrowser;
  const at = (query: string) => `${running.baseUrl}/devices/manage/${org.organisation.id}${query}`;
  before(async () => {
    running = await startTestService({ databaseUrl: "sqlite::memory:" });
    org = await seedRecords(running.service, "Acme");
    const issuer = `${running.baseUrl}/oauth/${org.organisation.id}`;
    await enrolledByCode(running.service, issuer, { name: "Till" });
    browser = testBrowser();
    await logIn(
      browser,
      { ...org, user: org.administrator },
      await follow(browser, await browser.get(at(""))),
    );
  });
  after(() => running.close());

  test("the chart's range and the list's filter stay in the address, whichever is changed", async () => {
    const { body } = await browser.get(at("?state=active&sort=name&range=30d"));
    const attribute = (pattern: RegExp) => pattern.exec(body)?.[1]?.replaceAll("&amp;", "&") ?? "";
    const path = new URL(at("")).pathname;
    const href = (id: string) => attribute(new RegExp(`id="${id}" href="([^"]*)"`));
    assert.equal(href("range-90d"), `${path}?state=active&sort=name&range=90d#devices-by-state`);
    assert.equal(href("range-7d"), `${path}?state=active&sort=name#devices-by-state`);
    assert.equal(href("search-all"), `${path}?range=30d`);
    assert.match(
      body,
      /<form class="search"[\s\S]*?<input type="hidden" name="range" value="30d">[\s\S]*?<\/form>/,
    );
    assert.match(attribute(/<a class="sort" href="([^"]*)"/), /[?&]range=30d(&|$)/);
    const odd = await browser.get(at('?range="><script>'));
    assert.doesNotMatch(odd.body, /"><script>/);
  });
});
