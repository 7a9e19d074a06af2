/** Device Bound Session Credentials, as a browser does it: the cookie of a bound session is worth nothing without its key. */
import assert from "node:assert/strict";
import { createPublicKey, generateKeyPairSync } from "node:crypto";
import { after, before, describe, test } from "node:test";
import { listAuditEvents } from "../../../core/audit/audit.store.ts";
import { removeExpired } from "../../../core/housekeeping/housekeeping.ts";
import { forEachDatabase, freshPostgres, type Scratch } from "../../../testing/databases.ts";
import {
  type BoundBrowser,
  bindingProof,
  boundBrowser,
  challengeOf,
  ecKey,
  offerOf,
} from "../../../testing/fakes/bound-browser.ts";
import { type TestBrowser, testBrowser } from "../../../testing/fakes/browser.ts";
import { type FakeClock, fakeClock } from "../../../testing/fakes/fake-clock.ts";
import { quickPasswords } from "../../../testing/fakes/quick-passwords.ts";
import { sessionCookie, showsLogin, signInAndConsent, visit } from "../../../testing/fixtures/visit.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../../testing/test-service.ts";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

async function signedIn(
  org: TestOrganisation,
  browser: BoundBrowser = boundBrowser(),
): Promise<BoundBrowser> {
  await signInAndConsent(browser, org);
  return browser;
}

/** Whoever has stolen the session's cookie. @param more names of further cookies */
function thief(browser: TestBrowser, org: TestOrganisation, ...more: string[]): TestBrowser {
  const copy = testBrowser();
  const [name = "", value = ""] = sessionCookie(browser, org) ?? [];
  copy.cookies.set(name, value);
  for (const one of more) copy.cookies.set(one, browser.cookies.get(one) ?? "");
  return copy;
}

const isSignedIn = async (browser: TestBrowser, org: TestOrganisation) =>
  !showsLogin(await visit(browser, org));

/** @param proof none: asks for a challenge */
const refreshCall = (org: TestOrganisation, id: string, proof?: string) =>
  testBrowser().post(
    `${org.issuer}/device-bound-session/refresh`,
    {},
    {
      "sec-secure-session-id": `"${id}"`,
      ...(proof === undefined ? {} : { "secure-session-response": `"${proof}"` }),
    },
  );

const registerCall = (org: TestOrganisation, proof: string) =>
  testBrowser().post(`${org.issuer}/device-bound-session`, {}, { "secure-session-response": proof });

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let clock: FakeClock;
  let org: TestOrganisation;
  let other: TestOrganisation;
  before(async () => {
    clock = fakeClock();
    running = await startTestService({ databaseUrl: await fresh(), passwords: quickPasswords, clock });
    org = await makeOrganisation(running.service);
    other = await makeOrganisation(running.service, "Elsewhere");
  });
  after(async () => {
    await running.close();
    assert.deepEqual(running.errors, []);
  });
  const events = async (action: string, at = org) =>
    (await listAuditEvents(running.service.database.query, at.organisation.id, 50)).filter(
      (event) => event.action === action,
    );

  test("binds the session of a browser that knows it, and tells it what to keep", async () => {
    const browser = await signedIn(org);
    const { instructions, sessionId } = browser.binding ?? {};
    const { id } = org.organisation;
    assert.deepEqual(instructions, {
      session_identifier: sessionId,
      refresh_url: `/oauth/${id}/device-bound-session/refresh`,
      scope: { include_site: false },
      credentials: [
        { type: "cookie", name: `signet-bound-${id}`, attributes: "Path=/; HttpOnly; SameSite=Lax" },
      ],
      allowed_refresh_initiators: ["*"],
    });
    const [answer] = browser.answers;
    assert.match(
      answer?.headers.getSetCookie().join() ?? "",
      /^signet-bound-[0-9a-f-]{36}=sgn_sb_[\w-]{43}; Max-Age=300; Path=\/; HttpOnly; SameSite=Lax$/,
    );
    assert.equal(answer?.headers.get("cache-control"), "no-store");
    const [bound] = await events("session.bound");
    assert.deepEqual(
      [bound?.actor, bound?.target, bound?.details],
      [`user:${org.user.id}`, sessionId, { alg: "ES256" }],
    );
    assert.equal(await isSignedIn(browser, org), true);
  });

  test("changes nothing for a browser that does not know it", async () => {
    const browser = testBrowser();
    await signInAndConsent(browser, org);
    clock.advance(11 * MINUTE);
    assert.equal(await isSignedIn(browser, org), true);
    assert.equal(await isSignedIn(thief(browser, org), org), true);
  });

  test("a stolen cookie is refused and audited once a minute; the browser goes on", async () => {
    const browser = await signedIn(org);
    const { sessionId } = browser.binding ?? {};
    // Requests on their way while the key was registered.
    assert.equal(await isSignedIn(thief(browser, org), org), true);
    clock.advance(30 * SECOND);
    for (let times = 0; times < 2; times++) assert.equal(await isSignedIn(thief(browser, org), org), false);
    const [refused, ...more] = await events("session.unproven");
    assert.deepEqual(
      [refused?.target, refused?.details, more.length],
      [org.user.id, { sessionId, reason: "no-proof" }, 0],
    );
    assert.equal(await isSignedIn(browser, org), true);
    const account = `${org.issuer}/account/sessions`;
    assert.match((await browser.get(account)).body, /Bound to the browser’s machine/);
    assert.equal((await thief(browser, org).get(account)).body.includes("Bound to the browser"), false);
  });

  test("the short cookie, stolen too, ends within ten minutes; the key gets the next one", async () => {
    const key = ecKey();
    const browser = await signedIn(org, boundBrowser(key));
    const cookie = browser.binding?.cookie ?? "";
    const both = thief(browser, org, cookie);
    assert.equal(await isSignedIn(both, org), true);
    clock.advance(10 * MINUTE);
    assert.equal(await isSignedIn(both, org), false);
    browser.cookies.delete(cookie);
    assert.equal(await isSignedIn(browser, org), true);
    assert.equal(browser.answers.at(-1)?.status, 200);
    clock.advance(4 * MINUTE);
    assert.equal(await isSignedIn(browser, org), true);
    // Of another session, though of the same user and the same key.
    const another = await signedIn(org, boundBrowser(key));
    clock.advance(MINUTE);
    const mixed = thief(browser, org);
    mixed.cookies.set(cookie, another.cookies.get(cookie) ?? "");
    assert.equal(await isSignedIn(mixed, org), false);
  });

  test("RSA keys too; the session continues bound after another sign-in", async () => {
    const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
    const browser = await signedIn(org, boundBrowser({ alg: "RS256", privateKey }));
    const { sessionId, cookie = "" } = browser.binding ?? {};
    browser.cookies.delete(cookie);
    clock.advance(MINUTE);
    const again = await visit(browser, org, { more: { prompt: "login" } });
    const { email, password } = org.user;
    const answer = await browser.post(`${org.issuer}/login`, { ...again.hidden, email, password });
    assert.equal(answer.status, 303);
    assert.equal(offerOf(answer), undefined, "it is bound");
    assert.equal(browser.binding?.sessionId, sessionId);
    clock.advance(11 * MINUTE);
    assert.equal(await isSignedIn(thief(browser, org), org), false);
  });

  test("a challenge serves once, for its session, its purpose and its organisation, for a while", async () => {
    const key = ecKey();
    const browser = await signedIn(org, boundBrowser(key));
    const id = browser.binding?.sessionId ?? "";
    const used = challengeOf(await refreshCall(org, id)) ?? "";
    const proof = await bindingProof(key, used);
    const both = await Promise.all([refreshCall(org, id, proof), refreshCall(org, id, proof)]);
    assert.deepEqual(both.map(({ status }) => status).sort(), [200, 403]);
    assert.equal((await refreshCall(org, id, proof)).status, 403);
    const theirs = await signedIn(org);
    const offered = await signedInOffer(org);
    const elsewhere = challengeOf(await refreshCall(other, id)) ?? "";
    const forOther = challengeOf(await refreshCall(org, theirs.binding?.sessionId ?? "")) ?? "";
    for (const challenge of ["", "x", `${used}x`, forOther, offered.challenge, elsewhere]) {
      const answer = await refreshCall(org, id, await bindingProof(key, challenge));
      assert.equal(answer.status, 403, challenge);
      assert.deepEqual(answer.headers.getSetCookie(), []);
    }
    const late = challengeOf(await refreshCall(org, id)) ?? "";
    clock.advance(15 * MINUTE);
    assert.equal((await refreshCall(org, id, await bindingProof(key, late))).status, 403);
    await removeExpired(running.service);
  });

  test("refuses a refresh by any other key, also one that the proof brings along", async () => {
    const key = ecKey();
    const browser = await signedIn(org, boundBrowser(key));
    const id = browser.binding?.sessionId ?? "";
    const challenge = async () => challengeOf(await refreshCall(org, id)) ?? "";
    for (const proof of [
      await bindingProof(ecKey(), await challenge()),
      await bindingProof(ecKey(), await challenge(), { withKey: true }),
      await bindingProof(key, await challenge(), { header: { typ: "JWT" } }),
      (await bindingProof(key, await challenge())).replace(
        /^[^.]+/,
        encoded({ alg: "none", typ: "dbsc+jwt" }),
      ),
      (await bindingProof(key, await challenge())).replace(
        /^[^.]+/,
        encoded({ alg: "HS256", typ: "dbsc+jwt" }),
      ),
    ]) {
      const answer = await refreshCall(org, id, proof);
      assert.equal(answer.status, 400);
      assert.deepEqual(answer.headers.getSetCookie(), []);
    }
    const [refused] = await events("session.unproven");
    assert.deepEqual(refused?.details, { sessionId: id, reason: "another-key" });
    assert.equal(await isSignedIn(browser, org), true);
  });

  test("refuses every registration that is not of the offer, by a good key, for the first time", async () => {
    const key = ecKey();
    const browser = await signedIn(org, boundBrowser(key));
    const bound = browser.binding?.sessionId ?? "";
    const offer = async () => (await signedInOffer(org)).challenge;
    const refuses = async (proof: string, about: string) => {
      const answer = await registerCall(org, proof);
      assert.equal(answer.status, 400, about);
      assert.deepEqual(answer.headers.getSetCookie(), [], about);
    };
    const ps256 = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey;
    const weak = generateKeyPairSync("rsa", { modulusLength: 1024 }).privateKey;
    const jwk = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey.export({ format: "jwk" });
    await refuses("", "nothing");
    await refuses("a.b.c", "nonsense");
    await refuses("x".repeat(5_000), "too long");
    await refuses(await bindingProof(ecKey(), await offer()), "no key");
    await refuses(await bindingProof(ecKey(), await offer(), { header: { jwk } }), "a private key");
    await refuses(await bindingProof(key, "x", { withKey: true }), "no challenge of ours");
    await refuses(
      await bindingProof(key, challengeOf(await refreshCall(org, bound)) ?? "", { withKey: true }),
      "of a refresh",
    );
    // Whoever knows the number of a session that is not bound yet gets such a challenge for it.
    const [unbound = ""] = (await offer()).split(".");
    const refreshing = challengeOf(await refreshCall(org, unbound)) ?? "";
    await refuses(
      await bindingProof(key, refreshing, { withKey: true }),
      "of a refresh, of an unbound session",
    );
    const foreign = createPublicKey(ecKey().privateKey).export({ format: "jwk" });
    await refuses(
      await bindingProof(key, await offer(), { header: { jwk: foreign } }),
      "a key that has not signed it",
    );
    await refuses(
      await bindingProof(key, (await signedInOffer(other)).challenge, { withKey: true }),
      "elsewhere",
    );
    await refuses(
      await bindingProof({ alg: "PS256" as "RS256", privateKey: ps256 }, await offer(), { withKey: true }),
      "PS256",
    );
    for (const rsa of [weak, ps256]) {
      const header = { jwk: createPublicKey(rsa).export({ format: "jwk" }) };
      await refuses(await bindingProof(ecKey(), await offer(), { header }), "an RSA key for ES256");
    }
    const late = await offer();
    clock.advance(15 * MINUTE);
    await refuses(await bindingProof(key, late, { withKey: true }), "expired");
    const challenge = await offer();
    const first = ecKey();
    assert.equal(
      (await registerCall(org, await bindingProof(first, challenge, { withKey: true }))).status,
      200,
    );
    await refuses(await bindingProof(first, challenge, { withKey: true }), "again");
    await refuses(await bindingProof(ecKey(), challenge, { withKey: true }), "another key");
  });

  test("of two offers for one session the first key stays", async () => {
    const browser = testBrowser();
    const offered = async () => {
      clock.advance(MINUTE);
      const { hidden } = await visit(browser, org, { more: { prompt: "login" } });
      const { email, password } = org.user;
      return (
        offerOf(await browser.post(`${org.issuer}/login`, { ...hidden, email, password }))?.challenge ?? ""
      );
    };
    const [first, second] = [await offered(), await offered()];
    assert.equal(first.split(".")[0], second.split(".")[0], "one session");
    const proofs = [first, second].map((one) => bindingProof(ecKey(), one, { withKey: true }));
    for (const [at, proof] of proofs.entries())
      assert.equal((await registerCall(org, await proof)).status, at === 0 ? 200 : 400);
  });

  test("an ended session ends the browser's binding; so does one of nobody", async () => {
    const browser = await signedIn(org);
    const id = browser.binding?.sessionId ?? "";
    await running.service.database.query
      .updateTable("browser_session")
      .set({ ended_at: clock() })
      .where("id", "=", id)
      .execute();
    const answer = await browser.refresh();
    assert.deepEqual(
      [answer.status, JSON.parse(answer.body)],
      [200, { session_identifier: id, continue: false }],
    );
    // Of the same name is the cookie of the session that came after.
    assert.deepEqual(answer.headers.getSetCookie(), []);
    const nobody = "01998d6e-0000-7000-8000-000000000000";
    const key = ecKey();
    const proof = await bindingProof(key, challengeOf(await refreshCall(org, nobody)) ?? "");
    assert.equal(JSON.parse((await refreshCall(org, nobody, proof)).body).continue, false);
    assert.equal((await testBrowser().post(`${org.issuer}/device-bound-session/refresh`, {})).status, 400);
  });

  /** A sign-in whose browser does not take the offer. */
  async function signedInOffer(at: TestOrganisation) {
    const browser = testBrowser();
    const page = await visit(browser, at);
    const answer = await browser.post(`${at.issuer}/login`, { ...page.hidden, ...at.user });
    const offer = offerOf(answer);
    assert.ok(offer, `an offer: ${answer.status}`);
    assert.equal(offer.algorithms, "ES256 RS256");
    return offer;
  }
});

const encoded = (header: object) => Buffer.from(JSON.stringify(header)).toString("base64url");

describe("two nodes on one PostgreSQL", () => {
  let database: Scratch;
  let nodes: TestService[];
  let clock: FakeClock;
  let org: TestOrganisation;
  before(async () => {
    clock = fakeClock();
    database = await freshPostgres();
    const shared = { databaseUrl: database.url, clock, passwords: quickPasswords };
    const first = await startTestService(shared);
    nodes = [first, await startTestService({ ...shared, baseUrl: first.service.config.baseUrl })];
    org = await makeOrganisation(first.service);
  });
  after(async () => {
    for (const node of nodes) await node.close();
    await database.remove();
  });

  test("what one node binds the other knows: its cookie, its challenges, and which were used", async () => {
    const there = { ...org, issuer: `${nodes[1]?.baseUrl}/oauth/${org.organisation.id}` };
    const key = ecKey();
    const browser = await signedIn(org, boundBrowser(key));
    const id = browser.binding?.sessionId ?? "";
    clock.advance(MINUTE);
    assert.equal(await isSignedIn(browser, there), true);
    assert.equal(await isSignedIn(thief(browser, there), there), false);
    const proof = await bindingProof(key, challengeOf(await refreshCall(org, id)) ?? "");
    assert.equal((await refreshCall(there, id, proof)).status, 200);
    for (const one of [org, there]) assert.equal((await refreshCall(one, id, proof)).status, 403);
  });
});
