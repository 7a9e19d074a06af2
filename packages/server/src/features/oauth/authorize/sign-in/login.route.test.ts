import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { hash as argon2Hash } from "@node-rs/argon2";
import { listAuditEvents } from "../../../../core/audit/audit.store.ts";
import { createPasswordHasher, type PasswordHasher } from "../../../../core/passwords/password-hasher.ts";
import { setPasswordHash } from "../../../../core/users/account.store.ts";
import { findUserByEmail } from "../../../../core/users/users.store.ts";
import { setPassword, setUserStatus } from "../../../../core/users/users.ts";
import { forEachDatabase } from "../../../../testing/databases.ts";
import { type TestPage, testBrowser } from "../../../../testing/fakes/browser.ts";
import {
  answerOf,
  logIn,
  sessionCookie,
  showsConsent,
  showsLogin,
  visit,
  withUser,
} from "../../../../testing/fixtures/visit.ts";
import {
  makeOrganisation,
  PASSWORD,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../../../testing/test-service.ts";

/** What the hasher was asked: the work behind an answer, which its time tells. */
interface Work {
  readonly call: "verify" | "hash";
  readonly known?: boolean;
  readonly length: number;
}

function watchedHasher(work: Work[]): PasswordHasher {
  const hasher = createPasswordHasher();
  return {
    ...hasher,
    hash: (password) => {
      work.push({ call: "hash", length: password.length });
      return hasher.hash(password, "");
    },
    verify: (stored, password) => {
      work.push({ call: "verify", known: stored !== undefined, length: password.length });
      return hasher.verify(stored, password, "");
    },
  };
}

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  const work: Work[] = [];
  before(async () => {
    // The limits are login-limits.test.ts's subject.
    const env = { SIGNET_RATE_LIMITS: "password-account=1000/60,password-address=1000/60" };
    running = await startTestService({ databaseUrl: await fresh(), passwords: watchedHasher(work), env });
    org = await makeOrganisation(running.service);
  });
  after(() => running.close());
  beforeEach(() => work.splice(0));

  async function attempt(typed: Record<string, string>, browser = testBrowser()): Promise<TestPage> {
    return logIn(browser, org, await visit(browser, org, { more: { state: "fixed" } }), typed);
  }
  const stored = async (email = org.user.email) =>
    (await findUserByEmail(running.service.database.query, org.organisation.id, email))?.passwordHash ?? "";
  /** The page without what differs from request to request. */
  const face = ({ body }: TestPage, email: string) =>
    body
      .replaceAll(email, "EMAIL")
      .replace(/(name="(?:csrf|flow)" value=)"[^"]*"/g, "$1")
      .replace(/((?:\?|%3F)flow(?:=|%3D))[\w.-]+/g, "$1")
      .replace(/(challenge&quot;:&quot;)[\w-]+/, "$1");

  test("the password signs in with the address in any case", async () => {
    for (const email of ["user@acme.example", "  USER@Acme.Example ", "ｕser@acme.example"])
      assert.ok(showsConsent(await attempt({ email })), email);
  });

  test("a refused sign-in offers the languages, and comes back to its own step in the one that is chosen", async () => {
    const browser = testBrowser();
    const refused = await attempt({ password: "not the password" }, browser);
    const uri = /href="(\/language\/de[^"]*)"/.exec(refused.body)?.[1] ?? "";
    const chosen = await browser.get(running.baseUrl + uri.replaceAll("&amp;", "&"));
    assert.equal(chosen.status, 303);
    const page = await browser.get(new URL(chosen.location ?? "", running.baseUrl).href);
    assert.match(page.body, /<html lang="de"/);
    assert.ok(showsConsent(await logIn(browser, org, page)));
  });

  test("an unknown address and a wrong password get the same response for the same work", async () => {
    const wrong = await attempt({ password: "not the password" });
    const unknown = await attempt({ email: "nobody@acme.example", password: "not the password" });
    assert.equal(wrong.status, 401);
    assert.ok(showsLogin(wrong));
    assert.equal(unknown.status, wrong.status);
    assert.equal(face(unknown, "nobody@acme.example"), face(wrong, org.user.email));
    const ownOfEach = ["date", "content-length", "set-cookie", "content-security-policy", "x-request-id"];
    const headers = (page: TestPage) => [...page.headers].filter(([name]) => !ownOfEach.includes(name));
    assert.deepEqual(headers(unknown), headers(wrong));
    const length = "not the password".length;
    assert.deepEqual(work, [
      { call: "verify", known: true, length },
      { call: "verify", known: false, length },
    ]);
  });

  test("a user without a password gets the response and work of a wrong password", async () => {
    const made = await withUser(running.service, org, "keyless@acme.example");
    const key = { orgId: org.organisation.id, id: made.user.id };
    await running.service.database.query
      .updateTable("user_account")
      .set({ password_hash: null })
      .where("org_id", "=", key.orgId)
      .where("id", "=", key.id)
      .execute();
    work.splice(0);
    assert.equal((await attempt({ email: made.user.email })).status, 401);
    assert.deepEqual(work, [{ call: "verify", known: false, length: PASSWORD.length }]);
  });

  test("a disabled user is told so with the correct password only", async () => {
    const { user } = await withUser(running.service, org, "gone@acme.example");
    const key = { orgId: org.organisation.id, id: user.id };
    await setUserStatus(running.service, { ...key, disabled: true, actor: "test" });
    const browser = testBrowser();
    const told = await attempt({ email: user.email }, browser);
    assert.equal(told.status, 401);
    assert.match(told.body, /Contact an administrator of Acme/);
    assert.ok(showsLogin(await visit(browser, org)), "and is not signed in");
    const guessed = await attempt({ email: user.email, password: "not the password" });
    const wrong = await attempt({ password: "not the password" });
    assert.equal(face(guessed, user.email), face(wrong, org.user.email));
  });

  test("oversized, odd and empty input counts as a wrong password", async () => {
    const typed: ReadonlyArray<Record<string, string>> = [
      { password: "p".repeat(1_025) },
      { password: `${PASSWORD}${" ".repeat(1_024)}` },
      { password: "p".repeat(50_000) },
      { email: `${"e".repeat(10_000)}@acme.example` },
      { email: "", password: "" },
      { email: "" },
      { password: "" },
      { password: "🦊\u0301\u200d\uFEFF\u202E" },
      { email: "user@acme.example\u200b" },
      { email: "user@acme.example\r\nbcc: x" },
      { email: "%' or 1=1 --" },
      { email: "＠", password: "\ufdfa".repeat(1_000) },
    ];
    for (const [at, one] of typed.entries()) {
      const page = await attempt(one);
      assert.equal(page.status, 401, String(at));
      assert.ok(showsLogin(page), String(at));
    }
    assert.ok(
      work.every(({ length }) => length <= 1_024),
      "no more than that is ever hashed",
    );
    assert.equal(work.length, typed.length, "and every one of them was");
    assert.deepEqual(running.errors, []);
  });

  test("a password of the maximum length signs in", async () => {
    const longest = "aB3 é✓".repeat(42);
    const { user } = await withUser(running.service, org, "longest@acme.example");
    const set = { organisation: org.organisation, id: user.id, password: longest, about: [], actor: "test" };
    await setPassword(running.service, set);
    assert.ok(showsConsent(await attempt({ email: user.email, password: longest })));
    assert.equal((await attempt({ email: user.email, password: longest.slice(0, -1) })).status, 401);
  });

  test("a malformed body is rejected with a page", async () => {
    for (const body of ["email=%00", "email=%ff", "email=%zz", "email=a&email=b", "x=1&".repeat(101), "\0"]) {
      const headers = { "content-type": "application/x-www-form-urlencoded" };
      const response = await fetch(`${org.issuer}/login`, {
        method: "POST",
        headers,
        body,
        redirect: "manual",
      });
      assert.equal(response.status, 400, body);
      assert.match(response.headers.get("content-type") ?? "", /^text\/html/);
    }
    assert.deepEqual(work, []);
  });

  test("the page repeats the email escaped, and never the password", async () => {
    const email = `"><script>alert(1)</script>@acme.example`;
    const page = await attempt({ email, password: "Secret-that-was-typed" });
    assert.ok(page.body.includes('value="&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;@acme.example"'));
    assert.doesNotMatch(page.body, /Secret-that-was-typed|<script>alert/);
    assert.match(page.body, /<input id="password"(?![^>]* value=)/);
  });

  test("a hash with weaker parameters is upgraded at the next sign-in", async () => {
    const { user } = await withUser(running.service, org, "weak@acme.example");
    const weak = await argon2Hash(PASSWORD, { memoryCost: 8_192, timeCost: 1 });
    const key = { orgId: org.organisation.id, id: user.id };
    await setPasswordHash(running.service.database.query, key, { hash: weak, now: 0 });
    assert.equal((await attempt({ email: user.email, password: "not the password" })).status, 401);
    assert.equal(await stored(user.email), weak, "not by a wrong one");
    assert.ok(showsConsent(await attempt({ email: user.email })));
    const renewed = await stored(user.email);
    assert.match(renewed, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    assert.ok(showsConsent(await attempt({ email: user.email })), "and still opens");
    assert.equal(await stored(user.email), renewed, "once");
  });

  test("a password without the CSRF token has no effect", async () => {
    const browser = testBrowser();
    const page = await visit(browser, org);
    const foreign = (await visit(testBrowser(), org)).hidden.csrf ?? "";
    const { email, password } = org.user;
    for (const csrf of ["", "x", foreign]) {
      const answer = await logIn(browser, org, { ...page, hidden: { ...page.hidden, csrf } });
      assert.equal(answer.status, 403);
      assert.match(answer.body, /Enter your password again/);
    }
    for (const headers of [
      { "sec-fetch-site": "cross-site" },
      { "sec-fetch-site": "same-site" },
      { origin: "https://evil.example" },
    ]) {
      const answer = await browser.post(`${org.issuer}/login`, { ...page.hidden, email, password }, headers);
      assert.equal(answer.status, 403, JSON.stringify(headers));
    }
    const bare = testBrowser();
    assert.equal(
      (await bare.post(`${org.issuer}/login`, { ...page.hidden, email, password })).status,
      403,
      "no cookie",
    );
    assert.deepEqual(work, [], "no password was looked at");
    assert.ok(showsLogin(await visit(browser, org)));
  });

  test("sign-ins are audited without the input", async () => {
    await attempt({ password: "not the password" });
    await attempt({ email: "nobody@acme.example" });
    const browser = testBrowser();
    await attempt({}, browser);
    const events = await listAuditEvents(running.service.database.query, org.organisation.id, 3);
    assert.deepEqual(
      events.map(({ action, details }) => [action, details?.["reason"]]),
      [
        ["session.started", undefined],
        ["sign-in.failed", "unknown account"],
        ["sign-in.failed", "wrong password"],
      ],
    );
    const [, cookie = ""] = sessionCookie(browser, org) ?? [];
    assert.doesNotMatch(JSON.stringify(events), /nobody@acme|not the password|plum tractor/);
    assert.ok(cookie !== "" && !JSON.stringify(events).includes(cookie));
  });

  test("a pending sign-in grants no access", async () => {
    const browser = testBrowser();
    const page = await attempt({ password: "not the password" }, browser);
    assert.equal(
      answerOf(await visit(browser, org, { more: { prompt: "none" } })).get("error"),
      "login_required",
    );
    for (const path of ["authorize", "consent"])
      assert.ok(showsLogin(await browser.get(`${org.issuer}/${path}?flow=${page.hidden.flow}`)), path);
    const decided = await browser.post(`${org.issuer}/authorize`, {
      ...page.hidden,
      decision: "allow",
      account: "current",
    });
    assert.ok(showsLogin(decided));
    const [, token = ""] = sessionCookie(browser, org) ?? [];
    const userinfo = await fetch(`${org.issuer}/userinfo`, { headers: { authorization: `Bearer ${token}` } });
    assert.equal(userinfo.status, 401);
    assert.match((await browser.get(`${org.issuer}/end_session`)).body, /You’re signed out/);
  });
});
