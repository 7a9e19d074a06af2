/** An organisation that wants confirmed addresses lets nobody go on without one; the link of the mail confirms, once. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { changeOrganisationSettings } from "../../../core/organisations/organisations.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { type TestBrowser, type TestPage, testBrowser } from "../../../testing/fakes/browser.ts";
import { fakeClock } from "../../../testing/fakes/fake-clock.ts";
import { MAIL_ENV, mailsTo, newestLinkPage } from "../../../testing/fakes/mailbox.ts";
import {
  answerOf,
  decide,
  follow,
  logIn,
  requestQuery,
  showsConsent,
  showsLogin,
  signInAndConsent,
  visit,
  withUser,
} from "../../../testing/fixtures/visit.ts";
import { assertAudited } from "../../../testing/probes/written-actions.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../../testing/test-service.ts";

describe("verified addresses", () => {
  forEachDatabase(({ fresh }) => {
    const clock = fakeClock();
    let running: TestService;
    let base: TestOrganisation;
    before(async () => {
      running = await startTestService({ databaseUrl: await fresh(), clock, env: MAIL_ENV });
      base = await makeOrganisation(running.service);
      const settings = { requireVerifiedEmail: true };
      await changeOrganisationSettings(running.service, {
        orgId: base.organisation.id,
        settings,
        actor: "test",
      });
    });
    after(() => running.close());

    let people = 0;
    async function unverified(): Promise<TestOrganisation> {
      const org = await withUser(running.service, base, `new-${people++}@acme.example`);
      await running.service.database.query
        .updateTable("user_account")
        .set({ email_verified_at: null })
        .where("id", "=", org.user.id)
        .execute();
      return org;
    }
    const showsOffer = ({ body }: TestPage) => body.includes('id="verify-email-send"');
    const isBroken = (page: TestPage) =>
      page.status === 404 && page.body.includes("This link no longer works");

    async function signIn(browser: TestBrowser, org: TestOrganisation): Promise<TestPage> {
      return logIn(browser, org, await visit(browser, org));
    }
    async function askedFor(browser: TestBrowser, org: TestOrganisation): Promise<string> {
      const offer = await signIn(browser, org);
      await browser.post(`${org.issuer}/verify-email`, offer.hidden);
      return newestLinkPage(running.service, org.user.email);
    }
    async function confirm(browser: TestBrowser, link: string): Promise<TestPage> {
      const { hidden } = await browser.get(link);
      return browser.post(link, hidden);
    }

    test("an unverified address gets no code, and the page offers the email", async () => {
      const org = await unverified();
      const browser = testBrowser();
      const offer = await signIn(browser, org);
      assert.ok(showsOffer(offer));
      assert.equal(
        (await mailsTo(running.service, org.user.email)).filter(({ mail }) => mail.template === "VerifyEmail")
          .length,
        0,
      );
      assert.ok(showsOffer(await visit(browser, org)), "the session alone leads no further");
      const silent = answerOf(await visit(browser, org, { more: { prompt: "none" } }));
      assert.equal(silent.get("error"), "interaction_required");
      const consent = await browser.get(`${org.issuer}/consent?flow=${offer.hidden["flow"]}`);
      assert.ok(showsOffer(await follow(browser, consent)));
      const decided = await browser.post(`${org.issuer}/authorize`, { ...offer.hidden, decision: "allow" });
      assert.ok(showsOffer(await follow(browser, decided)));
    });

    test("the offer's form may end at the application: the address was verified elsewhere meanwhile", async () => {
      const org = await unverified();
      const browser = testBrowser();
      const offer = await signIn(browser, org);
      // Browsers hold a form-action against the redirect to the application.
      assert.doesNotMatch(offer.headers.get("content-security-policy") ?? "", /form-action/);
      assert.equal(offer.headers.get("cross-origin-opener-policy"), "unsafe-none");
      await confirm(browser, await askedFor(browser, org));
      const ended = await browser.post(`${org.issuer}/verify-email`, offer.hidden);
      assert.equal(ended.status, 303);
      const own = await browser.get(`${org.issuer}/recovery`);
      assert.match(own.headers.get("content-security-policy") ?? "", /form-action 'self'/);
    });

    test("the offer is in the user's language", async () => {
      const org = await unverified();
      await running.service.database.query
        .updateTable("user_account")
        .set({ locale: "da" })
        .where("id", "=", org.user.id)
        .execute();
      const browser = testBrowser();
      const offer = await signIn(browser, org);
      assert.ok(showsOffer(offer));
      assert.match(offer.body, /<html lang="da">/);
      const sent = await browser.post(`${org.issuer}/verify-email`, offer.hidden);
      assert.match(sent.body, /<html lang="da">/);
    });

    test("the link verifies the address, and the flow continues", async () => {
      const org = await unverified();
      const browser = testBrowser();
      const link = await askedFor(browser, org);
      const done = await follow(browser, await confirm(browser, link));
      assert.match(done.body, /Email address confirmed/);
      const onward = /id="recovery-continue" href="([^"]+)"/.exec(done.body)?.[1] ?? "";
      const page = await follow(browser, await browser.get(new URL(onward, org.issuer).href));
      assert.ok(showsConsent(page), "without another sign-in");
      assert.ok(answerOf(await decide(browser, org, page)).has("code"));
    });

    test("opening the link verifies nothing, and it works once", async () => {
      const org = await unverified();
      const browser = testBrowser();
      const link = await askedFor(browser, org);
      const scanner = testBrowser();
      const looked = await scanner.get(link);
      assert.match(looked.body, /id="verify-email-confirm"/);
      assert.ok(showsOffer(await visit(browser, org)));
      const pages = await Promise.all(Array.from({ length: 5 }, () => scanner.post(link, looked.hidden)));
      assert.equal(pages.filter(({ status }) => status === 303).length, 1);
      assert.equal(pages.filter(isBroken).length, 4);
      assert.ok(isBroken(await scanner.get(link)));
      assert.ok(showsLogin(await visit(browser, org)), "of what was there before nothing is left");
    });

    test("the link is invalid after a day, for a changed address, at another organisation and after a newer link", async () => {
      const [expiring, moving, asking, foreign] = [
        await unverified(),
        await unverified(),
        await unverified(),
        await unverified(),
      ];
      const link = await askedFor(testBrowser(), expiring);
      clock.advance(24 * 3_600_000);
      assert.ok(isBroken(await testBrowser().get(link)));
      const moved = await askedFor(testBrowser(), moving);
      await running.service.database.query
        .updateTable("user_account")
        .set({ email: "moved@acme.example" })
        .where("id", "=", moving.user.id)
        .execute();
      assert.ok(isBroken(await testBrowser().get(moved)));
      const older = await askedFor(testBrowser(), asking);
      const newer = await askedFor(testBrowser(), asking);
      assert.ok(isBroken(await testBrowser().get(older)));
      assert.equal((await testBrowser().get(newer)).status, 200);
      const other = await makeOrganisation(running.service, `Other${people++}`);
      const theirs = (await askedFor(testBrowser(), foreign)).replace(
        base.organisation.id,
        other.organisation.id,
      );
      assert.ok(isBroken(await testBrowser().get(theirs)));
    });

    test("a form of another site or browser verifies nothing", async () => {
      const org = await unverified();
      const browser = testBrowser();
      const link = await askedFor(browser, org);
      const { hidden } = await testBrowser().get(link);
      assert.equal((await testBrowser().post(link, hidden)).status, 403);
      const own = await browser.get(link);
      assert.equal((await browser.post(link, own.hidden, { "sec-fetch-site": "cross-site" })).status, 403);
      const offer = await visit(browser, org);
      assert.ok(showsOffer(offer));
      const sent = (await mailsTo(running.service, org.user.email)).length;
      const unasked = await browser.post(`${org.issuer}/verify-email`, { ...offer.hidden, csrf: "wrong" });
      assert.equal(unasked.status, 403);
      assert.equal((await mailsTo(running.service, org.user.email)).length, sent);
    });

    test("the link verifies its own user in another user's browser and starts no session", async () => {
      const org = await unverified();
      const neighbour = await withUser(running.service, base, `neighbour-${people++}@acme.example`);
      const link = await askedFor(testBrowser(), org);
      const browser = testBrowser();
      await signInAndConsent(browser, neighbour);
      clock.advance(1_000);
      const done = await follow(browser, await confirm(browser, link));
      assert.match(done.body, /id="set-password"/);
      assert.doesNotMatch(
        done.body,
        /id="recovery-continue"/,
        "the neighbour answers no request of this user's",
      );
      assert.ok(answerOf(await visit(browser, neighbour)).has("code"));
    });

    test("a verified user gets no offer, and without a session no email is sent", async () => {
      const browser = testBrowser();
      assert.ok(showsConsent(await signIn(browser, base)));
      const page = await testBrowser().post(`${base.issuer}/verify-email`, {
        flow: (await visit(testBrowser(), base)).hidden["flow"] ?? "",
      });
      assert.ok(showsLogin(page));
      const query = requestQuery(base);
      assert.equal((await testBrowser().get(`${base.issuer}/verify-email?${query}`)).status, 400);
    });

    test("a user gets five emails an hour", async () => {
      const org = await unverified();
      const browser = testBrowser();
      const offer = await signIn(browser, org);
      const statuses: number[] = [];
      for (let time = 0; time < 6; time += 1)
        statuses.push((await browser.post(`${org.issuer}/verify-email`, offer.hidden)).status);
      assert.deepEqual(statuses, [200, 200, 200, 200, 200, 429]);
    });

    test("without the organisation's policy no verification is required", async () => {
      const other = await makeOrganisation(running.service, `Lenient${people++}`);
      await running.service.database.query
        .updateTable("user_account")
        .set({ email_verified_at: null })
        .where("id", "=", other.user.id)
        .execute();
      assert.ok(showsConsent(await signIn(testBrowser(), other)));
    });

    test("the link doesn't reach the logs", () => {
      assert.doesNotMatch(JSON.stringify([running.lines, running.errors]), /sgn_ua_/);
    });

    test("every action is audited", () =>
      assertAudited(running.service.database.query, "verify-email.requested"));
  });
});

test("without a mail server the offer says so", async (t) => {
  const running = await startTestService({ databaseUrl: "sqlite::memory:" });
  t.after(() => running.close());
  const org = await makeOrganisation(running.service);
  const settings = { requireVerifiedEmail: true };
  await changeOrganisationSettings(running.service, { orgId: org.organisation.id, settings, actor: "test" });
  await running.service.database.query.updateTable("user_account").set({ email_verified_at: null }).execute();
  const browser = testBrowser();
  const page = await logIn(browser, org, await visit(browser, org));
  assert.match(page.body, /Email is not set up[\s\S]*Ask an administrator of Acme to confirm/);
});
