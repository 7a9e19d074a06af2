import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { findConsents } from "../../../core/consents/consents.store.ts";
import { acrValues } from "../../../core/sessions/session.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { testBrowser } from "../../../testing/fakes/browser.ts";
import { type FakeClock, fakeClock } from "../../../testing/fakes/fake-clock.ts";
import { MAIL_ENV, mailsTo } from "../../../testing/fakes/mailbox.ts";
import { quickPasswords } from "../../../testing/fakes/quick-passwords.ts";
import {
  asksForApproval,
  askUser,
  decideOn,
  isDecided,
  makeCibaClient,
  openNewest,
  pollRequest,
  signedInAt,
  waitingRequests,
} from "../../../testing/fixtures/ciba.ts";
import { makeDetailType, payment } from "../../../testing/fixtures/detail-types.ts";
import { giveAuthenticator, showsTwoFactor } from "../../../testing/fixtures/factors.ts";
import { follow, logIn, showsLogin, withUser } from "../../../testing/fixtures/visit.ts";
import { assertOAuthError } from "../../../testing/probes/answers.ts";
import { assertAudited } from "../../../testing/probes/written-actions.ts";
import {
  makeOrganisation,
  startTestService,
  type TestClient,
  type TestOrganisation,
  type TestService,
} from "../../../testing/test-service.ts";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let world: TestOrganisation;
  let clock: FakeClock;
  let client: TestClient;
  before(async () => {
    clock = fakeClock();
    running = await startTestService({
      databaseUrl: await fresh(),
      clock,
      passwords: quickPasswords,
      env: { ...MAIL_ENV, SIGNET_RATE_LIMITS: "ciba-client-user=50/900,ciba-user=60/900" },
    });
    world = await makeOrganisation(running.service);
    client = await makeCibaClient(running.service, world, { authorizationDetailsTypes: ["payment"] });
  });
  after(async () => {
    assert.deepEqual(running.errors, []);
    await running.close();
  });

  let count = 0;
  /** Each test asks somebody of its own. */
  const newPerson = () => withUser(running.service, world, `asked${++count}@acme.example`);

  test("tells on the account page who asks, and by mail without a word of the application", async () => {
    const org = await newPerson();
    await askUser(org, client, { binding_message: "Code <b>W4SCT</b>" });
    const browser = testBrowser();
    const [address = ""] = await waitingRequests(browser, org);
    const mails = await mailsTo(running.service, org.user.email);
    const asked = mails.filter(({ mail }) => mail.template === "ApprovalRequested");
    assert.equal(asked.length, 1);
    assert.ok(!JSON.stringify(asked).includes("W4SCT"));
    assert.ok(JSON.stringify(asked).includes(address));
    const page = await signedInAt(browser, org, address);
    assert.ok(asksForApproval(page));
    assert.match(page.body, /id="binding-message"><bdi>Code &lt;b&gt;W4SCT&lt;\/b&gt;<\/bdi>/);
    assert.match(page.body, /Approve only if the application shows you the same message/);
    assert.match(page.body, new RegExp(`<bdi>${org.user.email}</bdi>`));
    assert.equal(page.headers.get("cache-control"), "no-store");
  });

  test("sends no mail to an address that nobody has proven to own", async () => {
    const org = await newPerson();
    const account = running.service.database.query.updateTable("user_account");
    await account.set({ email_verified_at: null }).where("id", "=", org.user.id).execute();
    await askUser(org, client);
    assert.deepEqual(await mailsTo(running.service, org.user.email), []);
  });

  test("asks for a sign-in of the last ten minutes before it shows and before it approves", async () => {
    const org = await newPerson();
    const browser = testBrowser();
    await signedInAt(browser, org, `${org.issuer}/account`);
    clock.advance(11 * 60_000);
    const asked = await askUser(org, client);
    const [address = ""] = await waitingRequests(browser, org);
    const login = await follow(browser, await browser.get(address));
    assert.ok(showsLogin(login) && !login.body.includes("Approve the request"));
    const question = await logIn(browser, org, login);
    assert.ok(asksForApproval(question));
    assert.equal((await pollRequest(org, asked)).body["error"], "authorization_pending");
    assert.ok(isDecided(await decideOn(browser, question)));
    assert.equal((await pollRequest(org, asked)).status, 200);
  });

  test("approves nothing in a session that has grown old since the page was shown; denying needs no new sign-in", async () => {
    const org = await newPerson();
    const browser = testBrowser();
    await signedInAt(browser, org, `${org.issuer}/account`);
    clock.advance(8 * 60_000);
    const asked = await askUser(org, client);
    const question = await openNewest(browser, org);
    clock.advance(3 * 60_000);
    const stale = await decideOn(browser, question);
    assert.ok(showsLogin(await follow(browser, stale)));
    assert.equal((await pollRequest(org, asked)).body["error"], "authorization_pending");
    assert.ok(isDecided(await decideOn(browser, question, "deny")));
    assertOAuthError(await pollRequest(org, asked), 400, "access_denied");
    await assertAudited(running.service.database.query, "ciba-request.denied");
  });

  test("asks for the second factor of whoever has one, in a trusted browser too, and for the level that the client wants", async () => {
    const org = await newPerson();
    await giveAuthenticator(running.service, org);
    const browser = testBrowser();
    await askUser(org, client);
    const page = await signedInAt(browser, org, `${org.issuer}/account`);
    assert.ok(showsTwoFactor(page));
    const plain = await newPerson();
    const strong = await makeCibaClient(running.service, world, { requiredAcr: acrValues.phishingResistant });
    const asked = await askUser(plain, strong);
    const opened = await openNewest(testBrowser(), plain);
    assert.ok(!asksForApproval(opened), "a password is not enough");
    assert.equal((await pollRequest(plain, asked)).body["error"], "authorization_pending");
  });

  test("stores the approval as consent, and asks each time", async () => {
    const org = await newPerson();
    const browser = testBrowser();
    const key = { orgId: org.organisation.id, applicationId: client.application.id, userId: org.user.id };
    await askUser(org, client);
    await decideOn(browser, await openNewest(browser, org));
    const [consent] = await findConsents(running.service.database.query, key);
    assert.deepEqual(consent?.scopes, ["openid", "profile"]);
    await askUser(org, client);
    assert.ok(asksForApproval(await openNewest(browser, org)));
    await assertAudited(running.service.database.query, "ciba-request.created", "ciba-request.approved");
  });

  test("shows authorization details in the words of their type, and puts them into the tokens", async () => {
    const org = await newPerson();
    await makeDetailType(running.service, org.organisation.id, "payment");
    clock.advance(1_000);
    const asked = await askUser(org, client, { authorization_details: JSON.stringify([payment]) });
    const browser = testBrowser();
    const page = await openNewest(browser, org);
    assert.match(page.body, /data-detail="payment" data-words="Pay 12\.50 EUR to Grocer"/);
    await decideOn(browser, page);
    const { status, body } = await pollRequest(org, asked);
    assert.equal(status, 200);
    assert.deepEqual(body["authorization_details"], [payment]);
  });

  test("is found by the asked user alone", async () => {
    const org = await newPerson();
    const asked = await askUser(org, client);
    const [address = ""] = await waitingRequests(testBrowser(), org);
    const neighbour = await newPerson();
    const other = testBrowser();
    const page = await signedInAt(other, neighbour, address);
    assert.equal(page.status, 404);
    assert.ok(!page.body.includes(client.application.name));
    assert.deepEqual(await waitingRequests(other, neighbour), []);
    const decided = await other.post(address, { decision: "allow", csrf: page.hidden["csrf"] ?? "" });
    assert.equal(decided.status, 404);
    const elsewhere = await makeOrganisation(running.service, "Elsewhere");
    const foreign = address.replace(org.organisation.id, elsewhere.organisation.id);
    assert.equal((await signedInAt(testBrowser(), elsewhere, foreign)).status, 404);
    assert.equal((await pollRequest(org, asked)).body["error"], "authorization_pending");
  });

  test("counts one of two decisions, and none without the browser's CSRF token or after the time", async () => {
    const org = await newPerson();
    const [one, two] = [testBrowser(), testBrowser()];
    const asked = await askUser(org, client);
    const pages = [await openNewest(one, org), await openNewest(two, org)] as const;
    const forged = await one.post(pages[0].url, { ...pages[0].hidden, csrf: "x", decision: "allow" });
    assert.equal(forged.status, 403);
    assert.match(forged.body, /id="request-notice"/);
    const crossSite = { "sec-fetch-site": "cross-site" };
    assert.equal(
      (await one.post(pages[0].url, { ...pages[0].hidden, decision: "allow" }, crossSite)).status,
      403,
    );
    assert.equal((await pollRequest(org, asked)).body["error"], "authorization_pending");
    const answers = await Promise.all([decideOn(one, pages[0]), decideOn(two, pages[1])]);
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 404]);
    const late = await askUser(org, client, { requested_expiry: "10" });
    const page = await openNewest(one, org);
    clock.advance(10_000);
    assert.equal((await decideOn(one, page)).status, 404);
    assertOAuthError(await pollRequest(org, late), 400, "expired_token");
  });

  test("asks again when what is asked has changed since the page was shown", async () => {
    const org = await newPerson();
    const browser = testBrowser();
    await askUser(org, client);
    const page = await openNewest(browser, org);
    const again = await browser.post(page.url, { ...page.hidden, asked: "x", decision: "allow" });
    assert.ok(asksForApproval(again));
  });

  test("leaves scopes that only an administrator may grant to the administrator", async () => {
    const org = await newPerson();
    const managed = await makeCibaClient(running.service, world, { consentMode: "organisation" });
    const asked = await askUser(org, managed);
    const browser = testBrowser();
    const page = await openNewest(browser, org);
    assert.equal(page.status, 403);
    assert.ok(!asksForApproval(page) && page.body.includes('id="request-deny"'));
    assert.equal((await decideOn(browser, page)).status, 403);
    assert.equal((await pollRequest(org, asked)).body["error"], "authorization_pending");
  });
});
