import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { forEachDatabase } from "../../testing/databases.ts";
import { type TestBrowser, type TestPage, testBrowser } from "../../testing/fakes/browser.ts";
import { type FakeClock, fakeClock } from "../../testing/fakes/fake-clock.ts";
import { quickPasswords } from "../../testing/fakes/quick-passwords.ts";
import { getTokens, refresh } from "../../testing/fixtures/client.ts";
import {
  answerOf,
  logIn,
  requestQuery,
  sessionCookie,
  showsLogin,
  signInAndConsent,
  tokensOf,
  visit,
  withUser,
} from "../../testing/fixtures/visit.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../testing/test-service.ts";

const HOUR = 3_600_000;

/** That a browser is known again by, and that shows the key of its session. */
const isBeside = (name: string) => /signet-(?:known|bound)-/.test(name);

/** The attributes of the one cookie of the session that an answer sets. */
function attributes({ headers }: TestPage): { name: string; value: string; rest: string[] } {
  const [line = "", ...others] = headers.getSetCookie().filter((one) => !isBeside(one));
  assert.equal(others.length, 0, "one cookie");
  const [pair = "", ...rest] = line.split("; ");
  const at = pair.indexOf("=");
  return {
    name: pair.slice(0, at),
    value: pair.slice(at + 1),
    rest: rest.filter((one) => !one.startsWith("Expires")),
  };
}

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  let clock: FakeClock;
  before(async () => {
    clock = fakeClock();
    running = await startTestService({ databaseUrl: await fresh(), passwords: quickPasswords, clock });
    org = await makeOrganisation(running.service);
  });
  after(() => running.close());

  const token = (browser: TestBrowser) => sessionCookie(browser, org)?.[1] ?? "";
  const silently = async (browser: TestBrowser) =>
    answerOf(await visit(browser, org, { more: { prompt: "none" } })).get("error") ?? "code";
  async function signedIn(): Promise<TestBrowser> {
    const browser = testBrowser();
    await signInAndConsent(browser, org);
    clock.advance(1_000);
    return browser;
  }
  const signInAgain = async (browser: TestBrowser, as = org) =>
    logIn(browser, as, await visit(browser, org, { more: { prompt: "login" } }));

  test("the cookie belongs to the organisation, is HttpOnly and SameSite, and ends with the session", async () => {
    const browser = testBrowser();
    const page = await browser.get(`${org.issuer}/authorize?${requestQuery(org)}`);
    const first = attributes(page);
    assert.equal(first.name, `signet-${org.organisation.id}`);
    assert.match(first.value, /^sgn_bs_[A-Za-z0-9_-]{43}$/);
    assert.deepEqual(
      first.rest.sort(),
      ["HttpOnly", "Path=/", "SameSite=Lax"],
      "before the sign-in it ends with the browser",
    );
    const { email, password } = org.user;
    const answer = await browser.post(`${org.issuer}/login`, { ...page.hidden, email, password });
    assert.deepEqual(attributes(answer).rest.sort(), ["HttpOnly", "Max-Age=43200", "Path=/", "SameSite=Lax"]);
  });

  test("on https the cookie is Secure and has the __Host- prefix", async () => {
    const secure = await startTestService({
      databaseUrl: await fresh(),
      passwords: quickPasswords,
      baseUrl: "https://id.example.com",
    });
    try {
      const made = await makeOrganisation(secure.service);
      const its = { ...made, issuer: `${secure.baseUrl}/oauth/${made.organisation.id}` };
      const browser = testBrowser();
      const page = await browser.get(`${its.issuer}/authorize?${requestQuery(its)}`);
      const set = attributes(page);
      assert.equal(set.name, `__Host-signet-${made.organisation.id}`);
      assert.deepEqual(set.rest.sort(), ["HttpOnly", "Path=/", "SameSite=Lax", "Secure"]);
      await signInAndConsent(browser, its);
      assert.ok(answerOf(await visit(browser, its, { more: { prompt: "none" } })).get("code"));
      const signOut = await browser.get(`${its.issuer}/end_session`);
      const cleared = attributes(await browser.post(`${its.issuer}/end_session`, signOut.hidden));
      assert.equal(cleared.name, set.name);
      assert.ok(cleared.rest.includes("Secure") && cleared.rest.includes("Path=/"), `${cleared.rest}`);
      assert.deepEqual([...browser.cookies.keys()], [`__Host-signet-known-${made.organisation.id}`]);
      const plain = testBrowser();
      plain.cookies.set(`signet-${made.organisation.id}`, set.value);
      assert.ok(
        attributes(await plain.get(`${its.issuer}/authorize?${requestQuery(its)}`)).value !== set.value,
        "the name without the prefix is not read",
      );
    } finally {
      await secure.close();
    }
  });

  test("every sign-in sets a new cookie and invalidates the previous one", async () => {
    const browser = testBrowser();
    const page = await visit(browser, org);
    const seen = [token(browser)];
    await logIn(browser, org, page);
    seen.push(token(browser));
    for (let at = 0; at < 2; at++) {
      clock.advance(1_000);
      await signInAgain(browser);
      seen.push(token(browser));
    }
    assert.equal(new Set(seen).size, 4);
    const current = seen.pop();
    for (const old of seen) {
      browser.cookies.set(`signet-${org.organisation.id}`, old);
      assert.equal(await silently(browser), "login_required", old);
    }
    browser.cookies.set(`signet-${org.organisation.id}`, current ?? "");
    assert.notEqual(await silently(browser), "login_required");
  });

  test("a planted cookie is never signed in (session fixation)", async () => {
    const planted = `sgn_bs_${"A".repeat(43)}`;
    const [victim, attacker] = [testBrowser(), testBrowser()];
    for (const browser of [victim, attacker]) browser.cookies.set(`signet-${org.organisation.id}`, planted);
    const page = await visit(victim, org);
    assert.equal(token(victim), planted, "it may bind a form");
    await logIn(victim, org, page);
    assert.notEqual(token(victim), planted);
    assert.equal(await silently(attacker), "login_required");
    assert.equal(await silently(victim), "consent_required");
  });

  test("replaces a malformed cookie before any use", async () => {
    for (const value of [
      "x",
      "",
      "sgn_bs_short",
      `sgn_bs_${"A".repeat(44)}`,
      `sgn_rt_${"A".repeat(43)}`,
      "%00",
      "a=b",
    ]) {
      const browser = testBrowser();
      browser.cookies.set(`signet-${org.organisation.id}`, value);
      assert.ok(showsLogin(await visit(browser, org)), value);
      assert.match(token(browser), /^sgn_bs_[A-Za-z0-9_-]{43}$/, value);
    }
  });

  test("rejects the session id and other token types as a cookie", async () => {
    const browser = await signedIn();
    const { idToken, accessToken, refreshToken } = await getTokens(org);
    const claims = JSON.parse(Buffer.from(idToken.split(".")[1] ?? "", "base64url").toString()) as {
      sid: string;
    };
    for (const value of [claims.sid, accessToken, refreshToken, idToken]) {
      browser.cookies.set(`signet-${org.organisation.id}`, value);
      assert.equal(await silently(browser), "login_required");
    }
  });

  test("the session ends after two hours idle and twelve hours in total", async () => {
    const idle = await signedIn();
    clock.advance(2 * HOUR);
    assert.equal(await silently(idle), "login_required");
    const busy = await signedIn();
    for (let hour = 1; hour < 12; hour++) {
      clock.advance(HOUR);
      assert.equal(await silently(busy), "code", `hour ${hour}`);
    }
    clock.advance(HOUR);
    assert.equal(await silently(busy), "login_required");
  });

  test("one browser can be signed in to two organisations independently", async () => {
    const other = await makeOrganisation(running.service, "Other");
    const browser = await signedIn();
    assert.equal(
      answerOf(await visit(browser, other, { more: { prompt: "none" } })).get("error"),
      "login_required",
    );
    await signInAndConsent(browser, other);
    assert.equal([...browser.cookies.keys()].filter((name) => !isBeside(name)).length, 2);
    assert.equal(await silently(browser), "code");
    const signOut = await browser.get(`${other.issuer}/end_session`);
    await browser.post(`${other.issuer}/end_session`, signOut.hidden);
    assert.equal(await silently(browser), "code", "signing out there leaves this one");
  });

  test("another user's sign-in ends the first session and its tokens", async () => {
    const otto = await withUser(running.service, org, "otto@acme.example");
    const browser = await signedIn();
    const { refreshToken } = await tokensOf(browser, org);
    const lasting = await tokensOf(browser, org, { scope: "openid offline_access" });
    const old = token(browser);
    await signInAgain(browser, otto);
    assert.equal((await refresh(org, refreshToken)).status, 400);
    assert.equal((await refresh(org, lasting.refreshToken)).status, 200);
    const first = testBrowser();
    first.cookies.set(`signet-${org.organisation.id}`, old);
    assert.equal(await silently(first), "login_required");
    assert.equal(await silently(browser), "consent_required", "as otto, who has not consented");
  });
});
