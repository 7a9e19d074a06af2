import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { listAuditEvents } from "../../../../core/audit/audit.store.ts";
import { resetFactors } from "../../../../core/second-factors/changes.ts";
import { findUser } from "../../../../core/users/users.store.ts";
import { disableUser, setPassword } from "../../../../core/users/users.ts";
import { forEachDatabase } from "../../../../testing/databases.ts";
import { testBrowser } from "../../../../testing/fakes/browser.ts";
import { type FakeClock, fakeClock } from "../../../../testing/fakes/fake-clock.ts";
import { quickPasswords } from "../../../../testing/fakes/quick-passwords.ts";
import {
  type AuthenticatorApp,
  giveAuthenticator,
  giveRecoveryCodes,
  showFactor,
  showsTwoFactor,
} from "../../../../testing/fixtures/factors.ts";
import {
  answerOf,
  logIn,
  sessionCookie,
  showsConsent,
  showsLogin,
  tokensOf,
  visit,
  withUser,
} from "../../../../testing/fixtures/visit.ts";
import { payloadOf } from "../../../../testing/probes/answers.ts";
import { assertAudited } from "../../../../testing/probes/written-actions.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../../../testing/test-service.ts";

const MINUTE = 60_000;
const STEP = 30_000;

forEachDatabase(({ fresh }) => {
  let clock: FakeClock;
  let running: TestService;
  let home: TestOrganisation;
  let org: TestOrganisation;
  let app: AuthenticatorApp;
  let count = 0;
  before(async () => {
    clock = fakeClock();
    running = await startTestService({ databaseUrl: await fresh(), clock, passwords: quickPasswords });
    home = await makeOrganisation(running.service);
  });
  after(() => running.close());
  beforeEach(async () => {
    clock.advance(2 * 60 * MINUTE);
    org = await withUser(running.service, home, `user${++count}@acme.example`);
    app = await giveAuthenticator(running.service, org);
  });

  /** A new browser in which the password was right. */
  async function afterPassword(who = org) {
    const browser = testBrowser();
    const page = await logIn(browser, who, await visit(browser, who));
    assert.ok(showsTwoFactor(page), page.body.slice(0, 500));
    return { browser, page };
  }

  test("the password alone starts no session when a second factor is due", async () => {
    const { browser, page } = await afterPassword();
    assert.equal(page.status, 200);
    assert.match(page.body, /id="code" name="code" inputmode="numeric" autocomplete="one-time-code"/);
    const silent = await visit(browser, org, { more: { prompt: "none" } });
    assert.equal(answerOf(silent).get("error"), "login_required");
  });

  test("a TOTP code completes the sign-in, and the tokens carry its acr and amr", async () => {
    const { browser, page } = await afterPassword();
    const before = sessionCookie(browser, org);
    assert.ok(showsConsent(await showFactor(browser, org, page, { code: app.code(clock()) })));
    assert.notDeepEqual(sessionCookie(browser, org), before, "a new cookie");
    const { idToken, accessToken } = await tokensOf(browser, org);
    for (const token of [idToken, accessToken]) {
      const { acr, amr } = payloadOf(token);
      assert.equal(acr, "urn:signet:acr:mfa");
      assert.deepEqual(amr, ["pwd", "otp", "mfa"]);
    }
  });

  test("codes are valid for their own time step and one on either side, typed in groups or not", async () => {
    for (const [offset, fine] of [
      [-2, false],
      [-1, true],
      [0, true],
      [1, true],
      [2, false],
    ] as const) {
      clock.advance(10 * STEP);
      const { browser, page } = await afterPassword();
      const code = app.code(clock() + offset * STEP).replace(/^(...)/, "$1 ");
      const after = await showFactor(browser, org, page, { code });
      assert.equal(showsConsent(after), fine, String(offset));
      if (!fine) assert.equal(after.status, 401);
    }
  });

  test("a code is accepted once, and no older one after it", async () => {
    const first = await afterPassword();
    const code = app.code(clock());
    assert.ok(showsConsent(await showFactor(first.browser, org, first.page, { code })));
    for (const again of [code, app.code(clock() - STEP)]) {
      const { browser, page } = await afterPassword();
      const refused = await showFactor(browser, org, page, { code: again });
      assert.equal(refused.status, 401);
      assert.match(refused.body, /aria-invalid="true"/);
      assert.ok(showsTwoFactor(refused));
    }
    clock.advance(STEP);
    const { browser, page } = await afterPassword();
    assert.ok(showsConsent(await showFactor(browser, org, page, { code: app.code(clock()) })));
  });

  test("of many concurrent uses of a code, one succeeds", async () => {
    const waiting = await Promise.all(Array.from({ length: 8 }, () => afterPassword()));
    const code = app.code(clock());
    const pages = await Promise.all(
      waiting.map(({ browser, page }) => showFactor(browser, org, page, { code })),
    );
    assert.equal(pages.filter(showsConsent).length, 1);
  });

  test("wrong codes are counted before the check, also concurrent ones", async () => {
    const { browser, page } = await afterPassword();
    const right = app.code(clock());
    const wrong = Array.from({ length: 25 }, (_, index) => String(100_000 + index)).filter(
      (code) => ![-1, 0, 1].some((offset) => app.code(clock() + offset * STEP) === code),
    );
    const pages = await Promise.all(wrong.map((code) => showFactor(browser, org, page, { code })));
    assert.equal(pages.filter(({ status }) => status === 401).length, 10);
    const limited = pages.filter(({ status }) => status === 429);
    assert.equal(limited.length, wrong.length - 10);
    assert.ok(Number(limited[0]?.headers.get("retry-after")) > 0);
    const tooLate = await showFactor(browser, org, page, { code: right });
    assert.equal(tooLate.status, 429, "the right one is not looked at either");
    assert.ok(showsTwoFactor(tooLate));
    const { id: orgId } = org.organisation;
    const told = (await listAuditEvents(running.service.database.query, orgId, 50)).filter(
      ({ action, target }) => action === "second-factor.limited" && target === org.user.id,
    );
    assert.deepEqual(
      told.map(({ actor, address, details }) => ({ actor, address, details })),
      [
        {
          actor: `user:${org.user.id}`,
          address: "127.0.0.1",
          details: { limit: "second-factor-account" },
        },
      ],
      "told once, however many there were",
    );
    clock.advance(61 * MINUTE);
    const later = await afterPassword();
    const code = app.code(clock());
    assert.ok(showsConsent(await showFactor(later.browser, org, later.page, { code })));
  });

  test("invalid passkeys don't count towards the limit of codes", async () => {
    const stranger = testBrowser();
    const { hidden } = await visit(stranger, org);
    const { count: most } = running.service.config.rateLimits["second-factor-address"];
    const nonsense = await Promise.all(
      Array.from({ length: most + 1 }, () =>
        stranger.post(`${org.issuer}/login`, { ...hidden, passkey: "{" }),
      ),
    );
    assert.equal(nonsense.filter(({ status }) => status === 429).length, 1, "they have one of their own");
    const { browser, page } = await afterPassword();
    assert.ok(showsConsent(await showFactor(browser, org, page, { code: app.code(clock()) })));
  });

  test("correct codes don't count towards the limit", async () => {
    for (let time = 0; time < 12; time++) {
      clock.advance(2 * STEP);
      const { browser, page } = await afterPassword();
      assert.ok(showsConsent(await showFactor(browser, org, page, { code: app.code(clock()) })), `${time}`);
    }
  });

  test("a pending sign-in is bound to its browser", async () => {
    const { page } = await afterPassword();
    const other = testBrowser();
    const ownPage = await visit(other, org);
    const { csrf = "" } = ownPage.hidden;
    const taken = await showFactor(other, org, page, { csrf, code: app.code(clock()) });
    assert.equal(taken.status, 403);
    assert.ok(showsLogin(taken));
  });

  test("a pending sign-in is not completed with another user's code", async () => {
    const otto = await withUser(running.service, home, `otto${count}@acme.example`);
    const ofOtto = await giveAuthenticator(running.service, otto);
    const { browser, page } = await afterPassword();
    const refused = await showFactor(browser, org, page, { code: ofOtto.code(clock()) });
    assert.equal(refused.status, 401);
    // Both are waiting in one browser: each form still means its own user.
    const second = await logIn(browser, otto, await visit(browser, otto));
    const code = app.code(clock());
    assert.equal((await showFactor(browser, otto, second, { code })).status, 401);
    assert.ok(showsConsent(await showFactor(browser, org, page, { code })));
    assert.equal((await tokensOf(browser, org)).claims.sub, org.user.id);
  });

  test("a pending sign-in expires after ten minutes", async () => {
    const { browser, page } = await afterPassword();
    clock.advance(10 * MINUTE);
    const late = await showFactor(browser, org, page, { code: app.code(clock()) });
    assert.equal(late.status, 403);
    assert.ok(showsLogin(late));
  });

  test("a pending sign-in ends when the password changes, the account is disabled or its factors are reset", async () => {
    const { organisation, user } = org;
    const key = { orgId: organisation.id, id: user.id, actor: "test" };
    const ends = {
      "password changed": () =>
        setPassword(running.service, {
          organisation,
          id: user.id,
          password: user.password,
          about: [],
          actor: "x",
        }),
      "factors reset": async () => {
        const account = await findUser(running.service.database.query, organisation.id, user.id);
        assert.ok(account);
        await resetFactors(running.service, { organisation, user: account, actor: "test" });
      },
      disabled: () => disableUser(running.service, { ...key, disabled: true }),
    };
    for (const [what, end] of Object.entries(ends)) {
      clock.advance(MINUTE);
      const { browser, page } = await afterPassword();
      clock.advance(1);
      await end();
      const after = await showFactor(browser, org, page, { code: app.code(clock()) });
      assert.ok(showsLogin(after), what);
      assert.equal(after.status, 403, `${what}: nothing was completed`);
      assert.equal(
        answerOf(await visit(browser, org, { more: { prompt: "none" } })).get("error"),
        "login_required",
      );
      if (what === "factors reset") app = await giveAuthenticator(running.service, org);
    }
  });

  test("a pending sign-in is completed once", async () => {
    const { browser, page } = await afterPassword();
    const cookie = sessionCookie(browser, org);
    const codes = await giveRecoveryCodes(running.service, org);
    assert.ok(showsConsent(await showFactor(browser, org, page, { code: app.code(clock()) })));
    // The same browser state again, as whoever copied it would have it.
    const thief = testBrowser();
    if (cookie) thief.cookies.set(...cookie);
    const again = await showFactor(thief, org, page, { method: "recovery", code: codes[0] ?? "" });
    assert.ok(showsLogin(again));
    // The proof was not used up by it either.
    const { browser: next, page: nextPage } = await afterPassword();
    const proof = { method: "recovery", code: codes[0] ?? "" };
    assert.ok(showsConsent(await showFactor(next, org, nextPage, proof)));
  });

  test("a cross-site form has no effect", async () => {
    const { browser, page } = await afterPassword();
    const code = app.code(clock());
    for (const forged of [
      await browser.post(`${org.issuer}/twofactor`, { ...page.hidden, code, csrf: "x" }),
      await browser.post(
        `${org.issuer}/twofactor`,
        { ...page.hidden, code },
        { "sec-fetch-site": "cross-site" },
      ),
    ]) {
      assert.equal(forged.status, 403);
      assert.ok(showsLogin(forged));
    }
    assert.ok(showsConsent(await showFactor(browser, org, page, { code })), "and uses nothing up");
  });

  test("a recovery code signs in once, in any notation", async () => {
    const [code = "", other = ""] = await giveRecoveryCodes(running.service, org);
    const { browser, page } = await afterPassword();
    const choice = await showFactor(browser, org, page, { show: "recovery" });
    assert.match(choice.body, /<label for="code">Recovery code/);
    const typed = ` ${code.toUpperCase().replaceAll("-", " ").replaceAll("0", "O")} `;
    assert.ok(showsConsent(await showFactor(browser, org, choice, { code: typed })));
    const { acr, amr } = payloadOf((await tokensOf(browser, org)).idToken);
    assert.equal(acr, "urn:signet:acr:mfa");
    assert.deepEqual(amr, ["pwd", "mfa"]);
    const next = await afterPassword();
    const used = await showFactor(next.browser, org, next.page, { method: "recovery", code });
    assert.equal(used.status, 401);
    const fine = await showFactor(next.browser, org, next.page, { method: "recovery", code: other });
    assert.ok(answerOf(fine).get("code"));
    const events = await listAuditEvents(running.service.database.query, org.organisation.id, 20);
    assert.ok(events.some(({ action, target }) => action === "recovery-code.used" && target === org.user.id));
  });

  test("of many concurrent uses of a recovery code, one succeeds", async () => {
    const [code = ""] = await giveRecoveryCodes(running.service, org);
    const waiting = await Promise.all(Array.from({ length: 6 }, () => afterPassword()));
    const pages = await Promise.all(
      waiting.map(({ browser, page }) => showFactor(browser, org, page, { method: "recovery", code })),
    );
    assert.equal(pages.filter(showsConsent).length, 1);
  });

  test("every action is audited", () =>
    assertAudited(running.service.database.query, "second-factor.failed"));
});
