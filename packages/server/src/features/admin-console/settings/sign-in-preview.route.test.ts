/** The live preview of the sign-in page: what is typed, in a sandbox, stored nowhere. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { findOrganisation } from "../../../core/organisations/organisations.store.ts";
import { type SeededRecords, seedRecords } from "../../../testing/fixtures/planted-records.ts";
import { type ConsoleBrowser, consoleBrowser, formOfPage } from "../../../testing/probes/console-browser.ts";
import { startTestService, type TestService } from "../../../testing/test-service.ts";

const PREVIEW = "/settings/branding/preview";

describe("the live preview of the sign-in page", () => {
  let running: TestService;
  let org: SeededRecords;
  let here: ConsoleBrowser;
  before(async () => {
    running = await startTestService({ databaseUrl: "sqlite::memory:" });
    org = await seedRecords(running.service, "Acme");
    here = await consoleBrowser(running, org);
  });
  after(async () => {
    await running.close();
    assert.deepEqual(running.errors, []);
  });

  const preview = async (typed: Record<string, string>) =>
    here.post(PREVIEW, formOfPage(await here.get("/settings/branding"), typed));

  test("shows name and colour as they are typed, and stores nothing", async () => {
    const stored = () => findOrganisation(running.service.database.query, org.organisation.id);
    const before = await stored();
    const { status, body } = await preview({ name: "Fleet Desk", accentColor: "#7A1F5C" });
    assert.equal(status, 200);
    assert.match(body, /Sign in to Fleet Desk/);
    assert.match(body, /#7a1f5c/);
    assert.deepEqual(await stored(), before);
  });

  test("shows texts and links as they are typed", async () => {
    const { body } = await preview({
      "heading-en": "Welcome <b>",
      "text-en": "Hello",
      termsUri: "https://a.example/t",
    });
    assert.match(body, /<h1>Welcome &lt;b&gt;<\/h1>\s*<p class="own-text">Hello<\/p>/);
    assert.match(body, /id="foot-terms" href="https:\/\/a\.example\/t"/);
    const faulty = await preview({ "heading-en": "x".repeat(81), termsUri: "javascript:x" });
    assert.doesNotMatch(faulty.body, /xxx|javascript:|foot-terms/);
  });

  test("what couldn't be saved isn't shown, and hostile input is text", async () => {
    const { body } = await preview({ name: "\u202Eevil", accentColor: "red}</style><script>" });
    assert.match(body, /Sign in to Acme/);
    assert.doesNotMatch(body, /evil|red\}|<script/);
    assert.match((await preview({ name: "<img src=x>" })).body, /Sign in to &lt;img src=x&gt;/);
  });

  test("runs nothing, sends nothing, and is embedded by our own pages only", async () => {
    const { body, headers } = await here.get(PREVIEW);
    assert.doesNotMatch(body, /<script|autofocus/);
    const policy = headers.get("content-security-policy") ?? "";
    assert.match(
      policy,
      /^default-src 'none'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'self'/,
    );
    assert.match(policy, /form-action 'none'; sandbox allow-same-origin$/);
    assert.match((await here.get("/settings/branding")).body, /<iframe [^>]*sandbox="allow-same-origin"/);
  });

  test("shows nothing of a form that isn't ours", async () => {
    const forged = await here.post(PREVIEW, { name: "Forged", accentColor: "" });
    assert.equal(forged.status, 403);
    assert.doesNotMatch(forged.body, /Forged/);
  });
});
