/** The link of the mail: looked at by anybody, used once, by a form; it signs nobody in. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { findIdentity, insertIdentity } from "../../../core/connections/sign-in/linked-identities.store.ts";
import { type PasswordHasher, PasswordQueueFull } from "../../../core/passwords/password-hasher.ts";
import { findUser } from "../../../core/users/users.store.ts";
import { setPassword, setUserStatus } from "../../../core/users/users.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { type TestBrowser, type TestPage, testBrowser } from "../../../testing/fakes/browser.ts";
import { fakeClock } from "../../../testing/fakes/fake-clock.ts";
import { MAIL_ENV, mailsTo, newestLinkPage } from "../../../testing/fakes/mailbox.ts";
import { quickPasswords } from "../../../testing/fakes/quick-passwords.ts";
import { getTokens, refresh } from "../../../testing/fixtures/client.ts";
import { giveAuthenticator, showFactor, showsTwoFactor } from "../../../testing/fixtures/factors.ts";
import { newSignInConnection } from "../../../testing/fixtures/sign-in-connection.ts";
import {
  answerOf,
  follow,
  logIn,
  sessionCookie,
  showsConsent,
  showsLogin,
  signInAndConsent,
  visit,
  withUser,
} from "../../../testing/fixtures/visit.ts";
import {
  makeOrganisation,
  PASSWORD,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../../testing/test-service.ts";

const HOUR = 3_600_000;
const NEW_PASSWORD = "walnut orbit seventeen";

describe("setting a new password", () => {
  forEachDatabase(({ fresh }) => {
    const clock = fakeClock();
    let queueIsFull = false;
    /** Held up after a password was looked at, before the sign-in goes on. */
    let holdUp: Promise<void> | undefined;
    let running: TestService;
    let other: TestOrganisation;
    let base: TestOrganisation;
    before(async () => {
      const env = { ...MAIL_ENV, SIGNET_RATE_LIMITS: "recovery-address=10000/60" };
      const hash = (password: string) =>
        queueIsFull ? Promise.reject(new PasswordQueueFull()) : quickPasswords.hash(password, "");
      const verify: PasswordHasher["verify"] = async (stored, password) => {
        const matches = await quickPasswords.verify(stored, password, "");
        await holdUp;
        return matches;
      };
      const passwords = { ...quickPasswords, hash, verify };
      running = await startTestService({ databaseUrl: await fresh(), clock, env, passwords });
      base = await makeOrganisation(running.service);
      other = await makeOrganisation(running.service, "Other");
    });
    after(() => running.close());

    let people = 0;
    /** The organisation with a person of this test's own. */
    const somebody = () => withUser(running.service, base, `person-${people++}@acme.example`);

    /** Asks for the mail on the way to the application. */
    async function askedFor(org: TestOrganisation, browser = testBrowser()): Promise<string> {
      const signIn = await visit(browser, org);
      const uri = /id="forgot-password" href="([^"]+)"/.exec(signIn.body)?.[1] ?? `${org.issuer}/recovery`;
      const form = await browser.get(new URL(uri, org.issuer).href);
      await browser.post(`${org.issuer}/recovery`, { ...form.hidden, email: org.user.email });
      return newestLinkPage(running.service, org.user.email);
    }
    async function set(browser: TestBrowser, link: string, password = NEW_PASSWORD): Promise<TestPage> {
      const form = await browser.get(link);
      return browser.post(link, { ...form.hidden, password });
    }
    const canSignIn = async (org: TestOrganisation, password: string) => {
      const browser = testBrowser();
      const page = await logIn(browser, org, await visit(browser, org), { password });
      return !showsLogin(page);
    };
    const isBroken = (page: TestPage) =>
      page.status === 404 && page.body.includes("This link no longer works");

    for (const isProven of [true, false])
      test(`an identity that was linked ${isProven ? "to a proven address stays" : "before the address was proven ends"}`, async () => {
        const org = await somebody();
        const { query } = running.service.database;
        const { id: orgId } = org.organisation;
        const connectionId = await newSignInConnection(running.service, orgId);
        const identity = { orgId, connectionId, subject: `mallory-${isProven}` };
        const linked = { ...identity, userId: org.user.id, createdAt: clock(), lastSignInAt: clock() };
        assert.ok(await insertIdentity(query, linked));
        const proven = { email_verified_at: isProven ? clock() : null };
        const account = query.updateTable("user_account").set(proven).where("org_id", "=", orgId);
        await account.where("id", "=", org.user.id).execute();
        await set(testBrowser(), await askedFor(org));
        assert.equal((await findIdentity(query, identity)) !== undefined, isProven);
        assert.equal((await findUser(query, orgId, org.user.id))?.emailVerified, true);
      });

    test("the new password signs in, the old one doesn't, and the flow continues", async () => {
      const org = await somebody();
      const browser = testBrowser();
      const link = await askedFor(org, browser);
      const done = await follow(browser, await set(browser, link));
      assert.match(done.body, /Password changed[\s\S]*id="recovery-continue"[^>]*>Continue to Web</);
      assert.ok(
        done.body.includes(`id="check-factors" href="/oauth/${org.organisation.id}/account/security"`),
      );
      const onward = /id="recovery-continue" href="([^"]+)"/.exec(done.body)?.[1] ?? "";
      const signIn = await browser.get(new URL(onward, org.issuer).href);
      assert.ok(showsLogin(signIn), "it signs nobody in");
      const answer = await logIn(browser, org, signIn, { password: NEW_PASSWORD });
      assert.ok(showsConsent(answer));
      assert.equal(await canSignIn(org, PASSWORD), false);
    });

    test("opening the link changes nothing, however often", async () => {
      const org = await somebody();
      const link = await askedFor(org);
      for (let time = 0; time < 3; time += 1) assert.equal((await testBrowser().get(link)).status, 200);
      assert.ok(await canSignIn(org, PASSWORD));
      assert.equal((await set(testBrowser(), link)).status, 303);
    });

    test("the link works once", async () => {
      const org = await somebody();
      const link = await askedFor(org);
      const [first, second] = [testBrowser(), testBrowser()];
      const forms = [await first.get(link), await second.get(link)] as const;
      assert.equal((await first.post(link, { ...forms[0].hidden, password: NEW_PASSWORD })).status, 303);
      assert.ok(isBroken(await second.post(link, { ...forms[1].hidden, password: "another plain one" })));
      assert.ok(isBroken(await second.get(link)));
      assert.ok(await canSignIn(org, NEW_PASSWORD));
    });

    test("of many concurrent forms, one sets the password", async () => {
      const org = await somebody();
      const link = await askedFor(org);
      const browser = testBrowser();
      const { hidden } = await browser.get(link);
      const passwords = Array.from({ length: 6 }, (_one, index) => `walnut orbit number ${index}`);
      const pages = await Promise.all(
        passwords.map((password) => browser.post(link, { ...hidden, password })),
      );
      assert.equal(pages.filter(({ status }) => status === 303).length, 1);
      assert.equal(pages.filter(isBroken).length, 5);
      const winner = passwords[pages.findIndex(({ status }) => status === 303)] ?? "";
      assert.ok(await canSignIn(org, winner));
      const notices = (await mailsTo(running.service, org.user.email)).filter(
        ({ mail }) => mail.template === "PasswordChanged",
      );
      assert.equal(notices.length, 1);
    });

    test("used, expired, replaced, foreign and forged links get the same response", async () => {
      const org = await somebody();
      const used = await askedFor(org);
      await set(testBrowser(), used);
      const replaced = await askedFor(org);
      const expired = await askedFor(org);
      clock.advance(HOUR);
      const id = new URL(expired).pathname.split("/").at(-1);
      const fresh = await askedFor(await somebody());
      const foreign = fresh.replace(org.organisation.id, other.organisation.id);
      const made = `${org.issuer}/recovery/sgn_ua_${"a".repeat(43)}`;
      const wrongKind = `${org.issuer}/verify-email/${new URL(fresh).pathname.split("/").at(-1)}`;
      const strange = `${org.issuer}/recovery/${encodeURIComponent("<script>alert(1)</script>")}`;
      const bodies = new Set<string>();
      for (const link of [used, replaced, expired, foreign, made, strange]) {
        const browser = testBrowser();
        const looked = await browser.get(link);
        assert.ok(isBroken(looked), link);
        bodies.add(
          looked.body
            .replace(/nonce="[^"]*"/g, "")
            // The language links lead to the same address.
            .replaceAll(`${new URLSearchParams({ to: new URL(link).pathname })}`, "to=link")
            .replaceAll(other.organisation.id, org.organisation.id)
            .replaceAll("Other", "Acme")
            .replace(/hue-\d" aria-hidden="true">[AO]/g, 'hue" aria-hidden="true">A'),
        );
        const { hidden } = await visit(browser, org);
        assert.ok(isBroken(await browser.post(link, { ...hidden, password: NEW_PASSWORD })), link);
      }
      assert.equal(bodies.size, 1);
      assert.ok(isBroken(await testBrowser().get(wrongKind)));
      assert.ok(id?.startsWith("sgn_ua_"));
      assert.equal((await testBrowser().get(fresh)).status, 200);
    });

    test("every session and refresh token of the user ends; other users' stay", async () => {
      const org = await somebody();
      const bystander = await somebody();
      const [mine, theirs] = [
        await getTokens(org, { scope: "openid offline_access" }),
        await getTokens(bystander),
      ];
      const [signedIn, elsewhere] = [testBrowser(), testBrowser()];
      await signInAndConsent(signedIn, org);
      await signInAndConsent(elsewhere, bystander);
      await set(testBrowser(), await askedFor(org));
      assert.ok(showsLogin(await visit(signedIn, org)));
      assert.equal((await refresh(org, mine.refreshToken)).body["error"], "invalid_grant");
      assert.equal((await refresh(bystander, theirs.refreshToken)).status, 200);
      assert.ok(!showsLogin(await visit(elsewhere, bystander)));
    });

    test("another user's session in the browser stays, and the flow doesn't continue with it", async () => {
      const [org, neighbour] = [await somebody(), await somebody()];
      const browser = testBrowser();
      const link = await askedFor(org);
      await signInAndConsent(browser, neighbour);
      clock.advance(1_000);
      const cookie = sessionCookie(browser, neighbour)?.[1];
      const done = await follow(browser, await set(browser, link));
      assert.equal(sessionCookie(browser, neighbour)?.[1], cookie);
      const onward = /id="recovery-continue" href="([^"]+)"/.exec(done.body)?.[1] ?? "";
      const page = await browser.get(new URL(onward, org.issuer).href);
      assert.ok(showsLogin(page), "the neighbour's session answers no request of this user's");
      assert.ok(answerOf(await visit(browser, neighbour)).has("code"), "and still serves the neighbour");
      assert.ok(await canSignIn(neighbour, PASSWORD));
    });

    test("the second factor stays required, and trusted browsers are revoked", async () => {
      const org = await somebody();
      const app = await giveAuthenticator(running.service, org);
      const browser = testBrowser();
      const asked = await logIn(browser, org, await visit(browser, org));
      await showFactor(browser, org, asked, { code: app.code(clock()), remember: "yes" });
      clock.advance(60_000);
      const again = await visit(browser, org, { more: { prompt: "login" } });
      assert.ok(!showsTwoFactor(await logIn(browser, org, again)), "the browser is remembered");
      const done = await follow(browser, await set(browser, await askedFor(org)));
      const onward = /id="recovery-continue" href="([^"]+)"/.exec(done.body)?.[1] ?? "";
      clock.advance(60_000);
      const signIn = await browser.get(new URL(onward, org.issuer).href);
      const factor = await logIn(browser, org, signIn, { password: NEW_PASSWORD });
      assert.ok(showsTwoFactor(factor));
      assert.ok(showsConsent(await showFactor(browser, org, factor, { code: app.code(clock()) })));
    });

    test("a browser trusted at a node with a fast clock is revoked too", async () => {
      const org = await somebody();
      const app = await giveAuthenticator(running.service, org);
      const browser = testBrowser();
      const link = await askedFor(org);
      clock.advance(60_000);
      const asked = await logIn(browser, org, await visit(browser, org));
      await showFactor(browser, org, asked, { code: app.code(clock()), remember: "yes" });
      clock.advance(-30_000);
      assert.equal((await set(testBrowser(), link)).status, 303);
      clock.advance(60_000);
      const again = await visit(browser, org, { more: { prompt: "login" } });
      assert.ok(showsTwoFactor(await logIn(browser, org, again, { password: NEW_PASSWORD })));
    });

    test("a pending sign-in with the old password ends", async () => {
      const org = await somebody();
      const link = await askedFor(org);
      const thief = testBrowser();
      const signIn = await visit(thief, org);
      let goOn = () => {};
      holdUp = new Promise((resolve) => {
        goOn = resolve;
      });
      const underWay = logIn(thief, org, signIn);
      clock.advance(1_000);
      assert.equal((await set(testBrowser(), link)).status, 303);
      goOn();
      holdUp = undefined;
      assert.ok(showsLogin(await underWay));
      assert.ok(showsLogin(await visit(thief, org)));
    });

    test("a weak password is rejected with advice, and the link stays valid", async () => {
      const org = await somebody();
      const link = await askedFor(org);
      const browser = testBrowser();
      const reasons: [string, RegExp][] = [
        ["short", /at least 12 characters/],
        ["x".repeat(300), /at most 256 characters|repeats a pattern/],
        ["abcabcabcabcabc", /repeats a pattern/],
        ["abcdefghijklmnop", /simple sequence/],
        ["password1234", /common passwords/],
        [org.user.email, /name or email address/],
        ["", /at least 12 characters/],
      ];
      for (const [password, reason] of reasons) {
        const page = await set(browser, link, password);
        assert.equal(page.status, 422, password);
        assert.match(page.body, reason);
        if (password !== "" && password !== org.user.email)
          assert.ok(!page.body.includes(password), "never given back");
      }
      assert.equal((await set(browser, link)).status, 303);
    });

    test("a form of another site or browser sets no password, and the link stays valid", async () => {
      const org = await somebody();
      const link = await askedFor(org);
      const { hidden } = await testBrowser().get(link);
      const browser = testBrowser();
      const own = await browser.get(link);
      const crossSite = { "sec-fetch-site": "cross-site" };
      const attempts = [
        await testBrowser().post(link, { ...hidden, password: NEW_PASSWORD }),
        await testBrowser().post(link, { password: NEW_PASSWORD }),
        await browser.post(link, { ...own.hidden, password: NEW_PASSWORD }, crossSite),
      ];
      for (const page of attempts) {
        assert.equal(page.status, 403);
        assert.ok(!page.body.includes(NEW_PASSWORD));
      }
      assert.ok(await canSignIn(org, PASSWORD));
      assert.equal((await set(browser, link)).status, 303);
    });

    test("a full password queue is reported, and the link stays valid", async () => {
      const org = await somebody();
      const link = await askedFor(org);
      queueIsFull = true;
      const busy = await set(testBrowser(), link);
      queueIsFull = false;
      assert.equal(busy.status, 503);
      assert.equal(busy.headers.get("retry-after"), "2");
      assert.equal((await set(testBrowser(), link)).status, 303);
    });

    test("the link is invalid for a disabled user and after a change of address or password", async () => {
      const [disabled, moved, changed] = [await somebody(), await somebody(), await somebody()];
      const links = [await askedFor(disabled), await askedFor(moved), await askedFor(changed)];
      const orgId = base.organisation.id;
      await setUserStatus(running.service, { orgId, id: disabled.user.id, disabled: true, actor: "test" });
      await running.service.database.query
        .updateTable("user_account")
        .set({ email: "elsewhere@acme.example" })
        .where("id", "=", moved.user.id)
        .execute();
      await setPassword(running.service, {
        organisation: base.organisation,
        id: changed.user.id,
        password: NEW_PASSWORD,
        about: [],
        actor: "operator",
      });
      for (const link of links) {
        const browser = testBrowser();
        assert.ok(isBroken(await browser.get(link)), link);
        const { hidden } = await visit(browser, base);
        assert.ok(isBroken(await browser.post(link, { ...hidden, password: "yet another phrase" })));
      }
    });

    test("a link from before the account was disabled stays invalid after it is enabled", async () => {
      const org = await somebody();
      const link = await askedFor(org);
      const orgId = base.organisation.id;
      for (const disabled of [true, false])
        await setUserStatus(running.service, { orgId, id: org.user.id, disabled, actor: "test" });
      assert.ok(isBroken(await testBrowser().get(link)));
      assert.equal((await set(testBrowser(), await askedFor(org))).status, 303);
    });

    test("the user is notified, and the address counts as verified", async () => {
      const org = await somebody();
      await running.service.database.query
        .updateTable("user_account")
        .set({ email_verified_at: null })
        .where("id", "=", org.user.id)
        .execute();
      await set(testBrowser(), await askedFor(org));
      const notice = (await mailsTo(running.service, org.user.email)).at(-1);
      assert.equal(notice?.mail.template, "PasswordChanged");
      assert.deepEqual(Object.keys(notice.mail.data).sort(), ["address", "at", "isVerified"]);
      const { email_verified_at } = await running.service.database.query
        .selectFrom("user_account")
        .select("email_verified_at")
        .where("id", "=", org.user.id)
        .executeTakeFirstOrThrow();
      assert.equal(email_verified_at, clock());
    });

    test("neither link nor password reaches the logs or the audit log", async () => {
      const audit = await running.service.database.query.selectFrom("audit_event").selectAll().execute();
      assert.ok(audit.some(({ action }) => action === "password.reset"));
      assert.doesNotMatch(JSON.stringify([running.lines, running.errors, audit]), /sgn_ua_|walnut/);
    });
  });
});
