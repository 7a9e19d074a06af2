import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { listAuditEvents } from "../../../core/audit/audit.store.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { type TestBrowser, testBrowser } from "../../../testing/fakes/browser.ts";
import { type CodeSource, codeSource } from "../../../testing/fakes/code-source.ts";
import { type FakeClock, fakeClock } from "../../../testing/fakes/fake-clock.ts";
import { refresh } from "../../../testing/fixtures/client.ts";
import { follow, logIn, sessionCookie, showsLogin, withUser } from "../../../testing/fixtures/visit.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../../testing/test-service.ts";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  let clock: FakeClock;
  let users = 0;
  before(async () => {
    clock = fakeClock();
    running = await startTestService({ databaseUrl: await fresh(), clock });
    org = await makeOrganisation(running.service);
  });
  after(async () => {
    assert.deepEqual(running.errors, []);
    await running.close();
  });

  const person = () => withUser(running.service, org, `person-${users++}@acme.example`);
  const list = (browser: TestBrowser) => browser.get(`${org.issuer}/account/sessions`);
  /** Links to the confirmation pages of the other sessions. */
  const endLinks = (body: string) =>
    [...body.matchAll(/href="([^"]*\/account\/sessions\/end\?id=[^"]*)"/g)].map(
      ([, path = ""]) => new URL(path.replaceAll("&amp;", "&"), org.issuer).href,
    );
  const isSignedIn = async (browser: TestBrowser) => !showsLogin(await list(browser));
  async function twoBrowsers(): Promise<{
    account: TestOrganisation;
    current: CodeSource;
    other: CodeSource;
  }> {
    const account = await person();
    const [current, other] = [codeSource(account), codeSource(account)];
    await other.code();
    clock.advance(1_000);
    await current.code();
    return { account, current, other };
  }

  test("requires a session, and returns to the list after sign-in", async () => {
    const account = await person();
    const browser = testBrowser();
    const page = await follow(browser, await list(browser));
    assert.ok(showsLogin(page));
    const back = await logIn(browser, account, page);
    assert.equal(new URL(back.url).pathname, new URL(`${org.issuer}/account/sessions`).pathname);
    assert.match(back.body, /This browser/);
    assert.match(back.body, new RegExp(account.user.email));
  });

  test("lists only the user's own sessions, without cookies or tokens", async () => {
    const { account, current, other } = await twoBrowsers();
    await other.tokens();
    const { body, headers } = await list(current.browser);
    assert.equal(body.match(/<li>\n<div>/g)?.length, 2);
    assert.equal(body.match(/This browser/g)?.length, 1);
    assert.match(body, /Used for Web/);
    assert.equal(headers.get("cache-control"), "no-store");
    for (const { browser } of [current, other]) {
      const [, cookie = "none"] = sessionCookie(browser, account) ?? [];
      assert.ok(!body.includes(cookie));
    }
  });

  test("ends another session after confirmation; the current one stays", async () => {
    const { account, current, other } = await twoBrowsers();
    const { refreshToken } = await other.tokens();
    const [link = "", ...more] = endLinks((await list(current.browser)).body);
    assert.deepEqual(more, []);
    const question = await current.browser.get(link);
    assert.match(question.body, /id="change-confirm"/);
    assert.ok(await isSignedIn(other.browser), "the confirmation page ends nothing");
    const done = await current.browser.post(`${org.issuer}/account/sessions/end`, question.hidden);
    assert.equal(done.status, 303);
    assert.match((await follow(current.browser, done)).body, /Session ended/);
    assert.ok(!(await isSignedIn(other.browser)));
    assert.ok(await isSignedIn(current.browser));
    assert.equal((await refresh(account, refreshToken)).status, 400);
    const [event] = await listAuditEvents(running.service.database.query, org.organisation.id, 1);
    assert.deepEqual(
      [event?.action, event?.actor, event?.address],
      ["session.ended", `user:${account.user.id}`, "127.0.0.1"],
    );
  });

  test("signing out everywhere ends every session and every refresh token, including offline_access", async () => {
    const { account, current, other } = await twoBrowsers();
    const offline = await other.tokens({ scope: "openid offline_access" });
    const question = await current.browser.get(`${org.issuer}/account/sessions/end`);
    assert.match(question.body, /Sign out everywhere\?/);
    const done = await current.browser.post(`${org.issuer}/account/sessions/end`, question.hidden);
    assert.match((await follow(current.browser, done)).body, /You’re signed out/);
    for (const { browser } of [current, other]) assert.ok(!(await isSignedIn(browser)));
    assert.equal((await refresh(account, offline.refreshToken)).status, 400);
    const events = await listAuditEvents(running.service.database.query, org.organisation.id, 5);
    const event = events.find(({ action }) => action === "user.signed-out-everywhere");
    assert.deepEqual(
      [event?.target, event?.actor, event?.details],
      [account.user.id, `user:${account.user.id}`, { sessions: 2 }],
    );
  });

  test("rejects a form without a valid CSRF token or from another origin", async () => {
    const { current, other } = await twoBrowsers();
    const { hidden } = await current.browser.get(`${org.issuer}/account/sessions/end`);
    const [, id = ""] = /id=([^&]+)/.exec(endLinks((await list(current.browser)).body)[0] ?? "") ?? [];
    const theirs = (await other.browser.get(`${org.issuer}/account/sessions/end`)).hidden;
    const attempts: Array<[Record<string, string>, Record<string, string>]> = [
      [{}, {}],
      [{ csrf: theirs["csrf"] ?? "" }, {}],
      [hidden, { "sec-fetch-site": "cross-site" }],
      [hidden, { "sec-fetch-site": "same-site" }],
      [hidden, { origin: "https://evil.example" }],
    ];
    for (const [form, headers] of attempts) {
      for (const which of [{}, { id }]) {
        const page = await current.browser.post(
          `${org.issuer}/account/sessions/end`,
          { ...form, ...which },
          headers,
        );
        assert.equal(page.status, 403);
        const isForeign = Object.keys(headers).length > 0;
        assert.match(page.body, isForeign ? /submitted from another site/ : /has expired/);
      }
    }
    assert.ok((await isSignedIn(current.browser)) && (await isSignedIn(other.browser)));
  });

  test("returns 404 for another user's session and doesn't end it", async () => {
    const mine = await twoBrowsers();
    const theirs = await twoBrowsers();
    const [link = ""] = endLinks((await list(theirs.current.browser)).body);
    assert.equal((await mine.current.browser.get(link)).status, 404);
    const { hidden } = await mine.current.browser.get(`${org.issuer}/account/sessions/end`);
    const id = new URL(link).searchParams.get("id") ?? "";
    await mine.current.browser.post(`${org.issuer}/account/sessions/end`, { ...hidden, id });
    assert.ok(await isSignedIn(theirs.other.browser));
    assert.ok(await isSignedIn(mine.other.browser), "no session of this user ends either");
  });
});
