// A form that waits while its browser signs in again: it goes on by itself, and for nobody and nothing else.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { listCustomScopes } from "../core/scopes/scopes.store.ts";
import { createUser } from "../core/users/users.ts";
import { testBrowser } from "../testing/fakes/browser.ts";
import { type FakeClock, fakeClock } from "../testing/fakes/fake-clock.ts";
import { type SeededRecords, seedRecords } from "../testing/fixtures/planted-records.ts";
import { follow, logIn } from "../testing/fixtures/visit.ts";
import { type ConsoleBrowser, consoleBrowser, formOfPage } from "../testing/probes/console-browser.ts";
import { PASSWORD, startTestService, type TestService } from "../testing/test-service.ts";

const MINUTE_MS = 60_000;

describe("form that waits for a new sign-in", () => {
  let running: TestService;
  let clock: FakeClock;
  let org: SeededRecords;
  before(async () => {
    clock = fakeClock();
    running = await startTestService({ databaseUrl: "sqlite::memory:", clock });
    org = await seedRecords(running.service, "Acme");
  });
  after(async () => {
    await running.close();
    assert.deepEqual(running.errors, []);
  });

  async function signInAgain({ browser }: ConsoleBrowser): Promise<void> {
    const url = `${running.baseUrl}/oauth/manage/${org.organisation.id}/confirm-identity`;
    await logIn(browser, { ...org, user: org.administrator }, await follow(browser, await browser.get(url)));
  }

  /** Eleven minutes after the sign-in. @returns the form that waits */
  async function waiting(here: ConsoleBrowser, name: string): Promise<URLSearchParams> {
    const typed = formOfPage(await here.get("/scopes/new"), { name, displayName: "Your shifts" });
    clock.advance(11 * MINUTE_MS);
    const page = await here.post("/scopes/new", typed);
    assert.equal(page.status, 403);
    return formOfPage(page);
  }

  const names = async () =>
    (await listCustomScopes(running.service.database.query, org.organisation.id)).map(({ name }) => name);

  test("is accepted as soon as its sender has signed in again", async () => {
    const here = await consoleBrowser(running, org);
    const form = await waiting(here, "shifts");
    assert.equal((await here.post("/scopes/new", form)).status, 403, "not before");
    assert.ok(!(await names()).includes("shifts"));
    await signInAgain(here);
    assert.equal((await here.post("/scopes/new", form)).status, 303);
    assert.ok((await names()).includes("shifts"));
  });

  test("the sign-in before a change explains why, and fills in the email address", async () => {
    const here = await consoleBrowser(running, org);
    clock.advance(11 * MINUTE_MS);
    const again = await here.get("/scopes/new");
    assert.match(again.body, /Confirm it’s you/);
    assert.match(again.body, new RegExp(`id="email"[^>]*value="${org.administrator.email}"`));
    const url = `${running.baseUrl}/oauth/manage/${org.organisation.id}/scopes/new`;
    const stranger = await testBrowser().get(url);
    assert.match(stranger.body, /id="email"[^>]*value(=""| )/);
    assert.doesNotMatch(stranger.body, /Confirm it’s you/);
  });

  test("keeps the typed name when the CSRF token is wrong", async () => {
    const here = await consoleBrowser(running, org);
    const path = `/applications/${org.ids["applications"]}/delete`;
    const form = formOfPage(await here.get(path), { name: "Not its name" });
    form.set("csrf", "somebody-elses");
    const page = await here.post(path, form);
    assert.equal(page.status, 403);
    assert.match(page.body, /id="name"[^>]*value="Not its name"/);
    assert.doesNotMatch(page.body, /id="name-fault"/);
  });

  test("redirects from a confirmation that is already applied, also with a wrong CSRF token", async () => {
    const here = await consoleBrowser(running, org);
    const path = `/applications/${org.ids["applications"]}/disable`;
    const form = formOfPage(await here.get(path));
    assert.equal((await here.post(path, form)).status, 303);
    const over = new RegExp(`/applications/${org.ids["applications"]}/advanced\\?done=`);
    const asked = await here.get(path);
    assert.deepEqual([asked.status, over.test(asked.headers.get("location") ?? "")], [303, true]);
    form.set("csrf", "somebody-elses");
    const sent = await here.post(path, form);
    assert.deepEqual([sent.status, over.test(sent.headers.get("location") ?? "")], [303, true]);
  });

  test("rejects input that is no text, shows it and explains", async () => {
    const here = await consoleBrowser(running, org);
    for (const path of ["/scopes/new", `/applications/${org.ids["applications"]}`, "/settings/branding"]) {
      const form = formOfPage(await here.get(path), { name: "half\0name" });
      const page = await here.post(path, form);
      assert.equal(page.status, 403, path);
      assert.match(page.body, /This form contains unreadable characters/);
      assert.match(page.body, /value="half\uFFFDname"/);
    }
  });

  test("is rejected at another address, from another administrator, and after two hours", async () => {
    const email = "second@acme.example";
    const person = { email, password: PASSWORD, firstname: "S", surname: "S", emailVerified: true };
    const { organisation } = org;
    await createUser(running.service, { organisation, ...person, role: "Administrator", actor: "test" });
    const here = await consoleBrowser(running, org);
    const form = await waiting(here, "rota");
    await signInAgain(here);
    form.delete("csrf");
    const pool = await here.post("/pools/new", form);
    assert.match(pool.body, /This page has expired/);
    const administrator = { ...org.administrator, email };
    const other = await consoleBrowser(running, { ...org, administrator });
    assert.equal((await other.post("/scopes/new", form)).status, 403);
    clock.advance(121 * MINUTE_MS);
    const later = await consoleBrowser(running, org);
    assert.equal((await later.post("/scopes/new", form)).status, 403);
    assert.ok(!(await names()).includes("rota"));
  });
});
