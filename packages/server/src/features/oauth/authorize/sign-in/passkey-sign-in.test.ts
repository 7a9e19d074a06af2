import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { listPasskeys } from "../../../../core/second-factors/passkeys/passkeys.store.ts";
import { acrValues } from "../../../../core/sessions/session.ts";
import { setUserStatus } from "../../../../core/users/users.ts";
import { forEachDatabase } from "../../../../testing/databases.ts";
import { type TestBrowser, type TestPage, testBrowser } from "../../../../testing/fakes/browser.ts";
import { type FakeClock, fakeClock } from "../../../../testing/fakes/fake-clock.ts";
import { quickPasswords } from "../../../../testing/fakes/quick-passwords.ts";
import { type SoftPasskey, softPasskey, type Wrong } from "../../../../testing/fakes/soft-passkey.ts";
import {
  giveAuthenticator,
  givePasskey,
  ownerIn,
  passkeyOptions,
  showFactor,
  showsTwoFactor,
} from "../../../../testing/fixtures/factors.ts";
import {
  answerOf,
  follow,
  logIn,
  showsConsent,
  showsLogin,
  tokensOf,
  visit,
  withUser,
} from "../../../../testing/fixtures/visit.ts";
import { payloadOf } from "../../../../testing/probes/answers.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../../../testing/test-service.ts";

type Options = Parameters<SoftPasskey["answer"]>[0];
type Answer = { readonly id: string; readonly response: Readonly<Record<string, unknown>> };
const HOUR = 3_600_000;

forEachDatabase(({ fresh }) => {
  let clock: FakeClock;
  let running: TestService;
  let home: TestOrganisation;
  let org: TestOrganisation;
  let passkey: SoftPasskey;
  let count = 0;
  before(async () => {
    clock = fakeClock();
    const env = { SIGNET_RATE_LIMITS: "second-factor-address=1000/60" };
    running = await startTestService({ databaseUrl: await fresh(), clock, passwords: quickPasswords, env });
    home = await makeOrganisation(running.service);
  });
  after(() => running.close());
  beforeEach(async () => {
    clock.advance(HOUR);
    org = await withUser(running.service, home, `user${++count}@acme.example`);
    passkey = await givePasskey(running.service, org);
  });

  /** Sends the passkey form of the sign-in page, without an address or a password. */
  async function signIn(browser: TestBrowser, page: TestPage, answer: string, who = org): Promise<TestPage> {
    const { csrf = "", flow = "" } = page.hidden;
    return follow(browser, await browser.post(`${who.issuer}/login`, { csrf, flow, passkey: answer }));
  }
  async function attempt(wrong: Wrong = {}, from = passkey): Promise<TestPage> {
    const browser = testBrowser();
    const page = await visit(browser, org);
    return signIn(browser, page, from.answer(passkeyOptions<Options>(page), wrong));
  }
  const refused = (page: TestPage) => {
    assert.equal(page.status, 401);
    assert.ok(showsLogin(page));
    assert.match(page.body, /That passkey isn’t registered here/);
  };

  test("a passkey alone signs in with two factors", async () => {
    const browser = testBrowser();
    const page = await visit(browser, org);
    assert.match(page.body, /autocomplete="username webauthn"/);
    const options = passkeyOptions<Options & { userVerification: string; allowCredentials: unknown[] }>(page);
    assert.equal(options.userVerification, "required");
    assert.deepEqual(options.allowCredentials, []);
    assert.ok(showsConsent(await signIn(browser, page, passkey.answer(options))));
    const { idToken, claims } = await tokensOf(browser, org, {
      claims: JSON.stringify({ id_token: { acr: { essential: true, value: acrValues.phishingResistant } } }),
    });
    assert.equal(claims.sub, org.user.id);
    assert.equal(payloadOf(idToken)["acr"], acrValues.phishingResistant);
    assert.deepEqual(payloadOf(idToken)["amr"], ["hwk", "user", "mfa"]);
    const [kept] = await listPasskeys(running.service.database.query, ownerIn(org));
    assert.equal(kept?.lastUsedAt, clock());
    assert.equal(kept?.counter, 1);
  });

  test("a synced passkey has the amr swk, and its counter stays 0", async () => {
    const synced = await givePasskey(running.service, org, { isSynced: true });
    for (let time = 0; time < 2; time++) {
      const browser = testBrowser();
      const page = await visit(browser, org);
      const after = await signIn(browser, page, synced.answer(passkeyOptions<Options>(page)));
      assert.ok(showsConsent(after) || answerOf(after).get("code"));
      assert.deepEqual(payloadOf((await tokensOf(browser, org)).idToken)["amr"], ["swk", "user", "mfa"]);
    }
  });

  test("a passkey response is rejected if any signed value is wrong", async () => {
    const wrongs: Record<string, Wrong> = {
      "another site's page": { origin: "https://signet.evil.example" },
      "another host's key": { rpId: "evil.example" },
      "a challenge that we did not make": { challenge: Buffer.alloc(54, 1).toString("base64url") },
      "no challenge": { challenge: "" },
      "a registration": { type: "webauthn.create" },
      "nobody there": { userPresent: false },
      "nobody verified": { userVerified: false },
      "another signature": { signature: Buffer.alloc(70, 1) },
      "another user": { userHandle: Buffer.alloc(16, 1).toString("base64url") },
      "no user": { userHandle: null },
    };
    for (const [what, wrong] of Object.entries(wrongs)) {
      const page = await attempt(wrong);
      assert.equal(page.status, 401, what);
      refused(page);
    }
    assert.ok(showsConsent(await attempt()), "and nothing is used up by it");
  });

  test("nonsense in the passkey's field is refused as such", async () => {
    for (const text of ["{", "null", "[]", '{"id":5,"response":{}}', "x".repeat(20_000)]) {
      const browser = testBrowser();
      refused(await signIn(browser, await visit(browser, org), text));
    }
  });

  test("a passkey response with members of wrong types is rejected", async () => {
    const wrongs: ReadonlyArray<(answer: Answer) => unknown> = [
      ({ response, ...rest }) => ({ ...rest, response: { ...response, userHandle: 5 } }),
      ({ response, ...rest }) => ({ ...rest, response: { ...response, userHandle: {} } }),
      ({ response, ...rest }) => ({ ...rest, response: { ...response, signature: 5 } }),
      ({ response, ...rest }) => ({ ...rest, response: { ...response, authenticatorData: [1] } }),
      (answer) => ({ ...answer, id: "\u0000" }),
      (answer) => ({ ...answer, id: "\ud800", rawId: "\ud800" }),
    ];
    for (const wrong of wrongs) {
      const broken = (page: TestPage) =>
        JSON.stringify(wrong(JSON.parse(passkey.answer(passkeyOptions<Options>(page))) as Answer));
      const browser = testBrowser();
      const page = await visit(browser, org);
      refused(await signIn(browser, page, broken(page)));
      const second = await logIn(browser, org, page);
      assert.equal((await showFactor(browser, org, second, { passkey: broken(second) })).status, 401);
    }
    assert.deepEqual(running.errors, []);
  });

  test("an unregistered passkey, or another user's, is rejected", async () => {
    const { baseUrl } = running.service.config;
    const stranger = softPasskey({ origin: baseUrl });
    refused(
      await attempt(
        { userHandle: Buffer.from(org.user.id.replaceAll("-", ""), "hex").toString("base64url") },
        stranger,
      ),
    );
    const otto = await withUser(running.service, home, `otto${count}@acme.example`);
    const ofOtto = await givePasskey(running.service, otto);
    refused(
      await attempt(
        { userHandle: Buffer.from(org.user.id.replaceAll("-", ""), "hex").toString("base64url") },
        ofOtto,
      ),
    );
  });

  test("a passkey response is accepted once, also concurrently", async () => {
    const browser = testBrowser();
    const page = await visit(browser, org);
    const synced = await givePasskey(running.service, org, { isSynced: true });
    const answer = synced.answer(passkeyOptions<Options>(page));
    const cookies = [...browser.cookies];
    const same = () => {
      const copy = testBrowser();
      for (const [name, value] of cookies) copy.cookies.set(name, value);
      return copy;
    };
    const pages = await Promise.all(Array.from({ length: 5 }, () => signIn(same(), page, answer)));
    assert.equal(pages.filter(showsConsent).length, 1);
    refused(await signIn(same(), page, answer));
  });

  test("a challenge is bound to its browser and expires after an hour", async () => {
    const asked = await visit(testBrowser(), org);
    const browser = testBrowser();
    const own = await visit(browser, org);
    refused(await signIn(browser, own, passkey.answer(passkeyOptions<Options>(asked))));
    clock.advance(HOUR);
    refused(await signIn(browser, own, passkey.answer(passkeyOptions<Options>(own))));
  });

  test("challenges of sign-in and second factor are not interchangeable", async () => {
    const browser = testBrowser();
    const login = await visit(browser, org);
    const factor = await logIn(browser, org, login);
    assert.ok(showsTwoFactor(factor));
    refused(await signIn(browser, login, passkey.answer(passkeyOptions<Options>(factor))));
    const wrong = await showFactor(browser, org, factor, {
      passkey: passkey.answer(passkeyOptions<Options>(login)),
    });
    assert.equal(wrong.status, 401);
    assert.ok(showsTwoFactor(wrong));
    const right = passkey.answer(passkeyOptions<Options>(wrong));
    assert.ok(showsConsent(await showFactor(browser, org, wrong, { passkey: right })));
  });

  test("a passkey whose counter does not grow is rejected as a copy", async () => {
    assert.ok(showsConsent(await attempt({ counter: 5 })));
    refused(await attempt({ counter: 5 }));
    refused(await attempt({ counter: 0 }));
    assert.ok((await attempt({ counter: 6 })).status < 400);
  });

  test("a disabled user is told so with their own passkey, and gets no session", async () => {
    await setUserStatus(running.service, {
      orgId: org.organisation.id,
      id: org.user.id,
      disabled: true,
      actor: "test",
    });
    const browser = testBrowser();
    const page = await visit(browser, org);
    const after = await signIn(browser, page, passkey.answer(passkeyOptions<Options>(page)));
    assert.equal(after.status, 401);
    assert.match(after.body, /can’t be used/);
    assert.equal(
      answerOf(await visit(browser, org, { more: { prompt: "none" } })).get("error"),
      "login_required",
    );
  });

  test("a cross-site form signs no user in", async () => {
    const browser = testBrowser();
    const page = await visit(browser, org);
    const form = { ...page.hidden, passkey: passkey.answer(passkeyOptions<Options>(page)) };
    const forged = await browser.post(`${org.issuer}/login`, form, { "sec-fetch-site": "cross-site" });
    assert.equal(forged.status, 403);
    assert.ok(showsLogin(forged));
  });

  test("after the password a passkey is a second factor, with or without user verification", async () => {
    for (const wrong of [{}, { userVerified: false }, { userHandle: null }] as Wrong[]) {
      const browser = testBrowser();
      const page = await logIn(browser, org, await visit(browser, org));
      const options = passkeyOptions<Options & { allowCredentials: { id: string }[] }>(page);
      assert.deepEqual(
        options.allowCredentials.map(({ id }) => id),
        [passkey.id],
      );
      const after = await showFactor(browser, org, page, { passkey: passkey.answer(options, wrong) });
      assert.ok(showsConsent(after) || answerOf(after).get("code"), JSON.stringify(wrong));
      const { idToken } = await tokensOf(browser, org);
      assert.equal(payloadOf(idToken)["acr"], acrValues.phishingResistant);
      assert.deepEqual(payloadOf(idToken)["amr"], ["pwd", "hwk", "user", "mfa"]);
    }
  });

  test("another user's passkey is rejected as a second factor", async () => {
    const otto = await withUser(running.service, home, `otto${count}@acme.example`);
    const ofOtto = await givePasskey(running.service, otto);
    const browser = testBrowser();
    const page = await logIn(browser, org, await visit(browser, org));
    for (const wrong of [{}, { userHandle: null }]) {
      const answer = ofOtto.answer(passkeyOptions<Options>(page), wrong);
      assert.equal((await showFactor(browser, org, page, { passkey: answer })).status, 401);
    }
  });

  test("a user with both factors chooses the method, and can change it", async () => {
    const app = await giveAuthenticator(running.service, org);
    const browser = testBrowser();
    const page = await logIn(browser, org, await visit(browser, org));
    assert.match(page.body, /data-passkey="get"/);
    const code = await showFactor(browser, org, page, { show: "totp" });
    assert.match(code.body, /id="code"/);
    assert.match(code.body, /id="choose-passkey"/);
    assert.ok(showsConsent(await showFactor(browser, org, code, { code: app.code(clock()) })));
  });

  test("a guest signs in with their home passkey; an organisation without their membership rejects it", async () => {
    const host = await makeOrganisation(running.service, `Host${count}`);
    const browser = testBrowser();
    const page = await visit(browser, host);
    const before = await signIn(browser, page, passkey.answer(passkeyOptions<Options>(page)), host);
    refused(before);
    await running.service.database.query
      .insertInto("membership")
      .values({
        org_id: host.organisation.id,
        user_id: org.user.id,
        home_org_id: org.organisation.id,
        role: "Standard",
        created_at: clock(),
      })
      .execute();
    const answer = passkey.answer(passkeyOptions<Options>(before));
    assert.ok(showsConsent(await signIn(browser, before, answer, host)));
  });
});
