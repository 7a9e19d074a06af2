// Sign-in at an OpenID provider that lies: each attack of connections.md §5 has its reason, and starts no session.
import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { after, afterEach, before, test } from "node:test";
import { listAuditEvents } from "../../../core/audit/audit.store.ts";
import type { Connection } from "../../../core/connections/connection.ts";
import { failureStatus } from "../../../core/connections/sign-in/failure.ts";
import { findIdentity } from "../../../core/connections/sign-in/linked-identities.store.ts";
import type { AskedSettings } from "../../../core/connections/sign-in/settings-rules.ts";
import {
  changeSignInConnection,
  createSignInConnection,
} from "../../../core/connections/sign-in/sign-in-connections.ts";
import { listConnectionSignIns } from "../../../core/connections/sign-in/sign-in-log.store.ts";
import { storeProof } from "../../../core/domains/domain-proof.ts";
import { changeDomain } from "../../../core/domains/domains.ts";
import { findUserByEmail } from "../../../core/users/users.store.ts";
import { createUser, setUserStatus } from "../../../core/users/users.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { type TestBrowser, type TestPage, testBrowser } from "../../../testing/fakes/browser.ts";
import { type FakeClock, fakeClock } from "../../../testing/fakes/fake-clock.ts";
import {
  type HostileProvider,
  signed,
  startHostileProvider,
} from "../../../testing/fakes/hostile-provider.ts";
import { provenDomain } from "../../../testing/fixtures/routed-domain.ts";
import { follow, showsConsent, showsLogin, visit } from "../../../testing/fixtures/visit.ts";
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
  let there: HostileProvider;
  let connection: Connection;
  before(async () => {
    clock = fakeClock();
    const env = { SIGNET_OUTBOUND_ALLOW: "127.0.0.1" };
    running = await startTestService({ databaseUrl: await fresh(), clock, env });
    org = await makeOrganisation(running.service);
    there = await startHostileProvider(clock);
    connection = await connect("There");
  });
  afterEach(() => there.reset());
  after(async () => {
    await there.close();
    assert.deepEqual(running.errors, []);
    await running.close();
  });

  const settings = (): AskedSettings => ({
    oidc: { issuer: there.issuer, clientId: "signet" },
    emailTrust: "verifiedClaim",
  });
  const connect = (name: string, more: AskedSettings = {}): Promise<Connection> =>
    createSignInConnection(running.service, {
      ...{ orgId: org.organisation.id, actor: "test" },
      asked: {
        ...{ kind: "oidc", name, enabled: true, clientSecret: "their secret" },
        settings: { ...settings(), ...more },
      },
    });
  const start = async (browser: TestBrowser, { id }: Connection = connection, more = {}) => {
    const page = await visit(browser, org, { more });
    const [link = ""] = new RegExp(`/oauth/[^"]*/connections/${id}/start[^"]*`).exec(page.body) ?? [];
    assert.notEqual(link, "", "the sign-in page has the button");
    return browser.get(running.baseUrl + link.replaceAll("&amp;", "&"));
  };
  /** To the provider and back. */
  const signIn = async (browser = testBrowser(), of = connection, more = {}): Promise<TestPage> => {
    const sent = await start(browser, of, more);
    assert.equal(sent.status, 303, sent.body);
    return follow(browser, await browser.get(there.comeBack(sent.location ?? "")));
  };
  const account = async (email: string) =>
    (await findUserByEmail(running.service.database.query, org.organisation.id, email))?.user;
  const lastSignIn = async ({ id }: Connection = connection) => {
    const key = { orgId: org.organisation.id, id };
    return (await listConnectionSignIns(running.service.database.query, key, { now: clock() }))[0];
  };
  const failsWith = async (page: TestPage, reason: Parameters<typeof failureStatus>[0]) => {
    assert.equal(page.status, failureStatus(reason), reason);
    assert.match(page.body, /id="connection-error"/, reason);
    const events = await listAuditEvents(running.service.database.query, org.organisation.id, 1);
    const [{ action, target, details } = { action: "", target: "", details: {} }] = events;
    assert.deepEqual([action, target], ["connection-sign-in.failed", connection.id], reason);
    assert.equal((details as { reason?: string } | undefined)?.reason, reason);
  };

  test("who is new gets an account of their own, verified, and signs in to it again whatever the email says", async () => {
    assert.ok(showsConsent(await signIn()));
    const made = await account("ada@there.example");
    assert.deepEqual(
      [made?.firstname, made?.surname, made?.emailVerified, made?.role],
      ["Ada", "Byron", true, "Standard"],
    );
    there.claims = { email: org.user.email, given_name: "Other" };
    const browser = testBrowser();
    assert.ok(showsConsent(await signIn(browser)));
    assert.equal((await account("ada@there.example"))?.firstname, "Ada");
    assert.equal((await lastSignIn())?.outcome, "succeeded");
    const events = await listAuditEvents(running.service.database.query, org.organisation.id, 30);
    const told = (action: string) => events.find((event) => event.action === action);
    const by = `connection:${connection.id}`;
    assert.deepEqual([told("user.created")?.actor, told("user.created")?.target], [by, made?.id]);
    assert.deepEqual([told("identity.linked")?.actor, told("identity.linked")?.target], [by, made?.id]);
    assert.deepEqual(told("session.started")?.details, { amr: ["fed"] });
  });

  test("the request has code, PKCE, state, nonce, and what the application asked for", async () => {
    const more = { login_hint: "ada@there.example", max_age: "600", prompt: "login" };
    const { location = "" } = await start(testBrowser(), connection, more);
    const asked = new URL(location).searchParams;
    const callback = `${running.baseUrl}/oauth/${org.organisation.id}/connections/${connection.id}/callback`;
    assert.deepEqual(
      ["response_type", "client_id", "redirect_uri", "code_challenge_method", "scope"].map((name) =>
        asked.get(name),
      ),
      ["code", "signet", callback, "S256", "openid email profile"],
    );
    assert.deepEqual(
      ["login_hint", "prompt", "max_age"].map((name) => asked.get(name)),
      ["ada@there.example", "login", "600"],
    );
    for (const name of ["state", "nonce", "code_challenge"])
      assert.ok((asked.get(name) ?? "").length >= 43, name);
  });

  test("an ID token that is not right in every part is refused, each with its reason", async () => {
    const seconds = () => Math.floor(clock() / 1000);
    const wrong = [
      [{ iss: "https://other.example" }, "issuer-mismatch"],
      [{ iss: `${there.issuer}/` }, "issuer-mismatch"],
      [{ aud: "another-client" }, "audience-mismatch"],
      [{ aud: ["signet", "another-client"] }, "audience-mismatch"],
      [{ azp: "another-client", aud: ["signet", "x"] }, "audience-mismatch"],
      [{ nonce: "of another sign-in" }, "nonce-mismatch"],
      [{ nonce: undefined }, "nonce-mismatch"],
      [{ exp: seconds() - 120 }, "token-expired"],
      [{ exp: undefined }, "token-expired"],
      [{ sub: undefined }, "subject-missing"],
      [{ sub: "" }, "subject-missing"],
      [{ sub: "x".repeat(256) }, "subject-missing"],
    ] as const;
    for (const [claims, reason] of wrong) {
      there.reset();
      there.claims = claims;
      await failsWith(await signIn(), reason);
      assert.equal((await lastSignIn())?.reason, reason);
    }
  });

  test("only the provider's own keys sign, by asymmetric algorithms", async () => {
    const stranger = { ...there.key };
    there.rotate();
    const forged = { ...there.key };
    there.signer = (claims) => signed(claims, { ...stranger, kid: forged.kid });
    await failsWith(await signIn(), "signature-invalid");
    const encode = (part: unknown) => Buffer.from(JSON.stringify(part)).toString("base64url");
    there.signer = async (claims) => `${encode({ alg: "none" })}.${encode(claims)}.`;
    assert.ok([400, 502].includes((await signIn()).status));
    assert.equal((await lastSignIn())?.outcome, "failed");
    // With the client secret, which the provider has too, as the key.
    there.signer = async (claims) => {
      const content = `${encode({ alg: "HS256" })}.${encode(claims)}`;
      return `${content}.${createHmac("sha256", "their secret").update(content).digest("base64url")}`;
    };
    await failsWith(await signIn(), "algorithm-refused");
  });

  test("a new key is looked for, once in thirty seconds", async () => {
    clock.advance(31_000);
    assert.ok(showsConsent(await signIn()));
    clock.advance(31_000);
    there.rotate();
    there.asked.splice(0);
    assert.ok(showsConsent(await signIn()), "the new key is fetched");
    assert.equal(there.asked.filter((path) => path === "/jwks").length, 1);
    there.rotate();
    await failsWith(await signIn(), "signature-invalid");
    assert.equal(there.asked.filter((path) => path === "/jwks").length, 1, "not again at once");
    clock.advance(31_000);
    assert.ok(showsConsent(await signIn()));
  });

  test("mix-up: another connection's callback, and another issuer in the answer", async () => {
    const other = await connect("Elsewhere");
    const browser = testBrowser();
    const back = there.comeBack((await start(browser)).location ?? "");
    const mixed = await browser.get(back.replace(connection.id, other.id));
    assert.equal(mixed.status, 400);
    assert.equal((await account("mixed@there.example"))?.id, undefined);
    // It is still good where it belongs.
    assert.ok(showsConsent(await follow(browser, await browser.get(back))));
    const sent = await start(testBrowser());
    for (const iss of ["https://other.example", ""]) {
      const again = testBrowser();
      const { location = "" } = await start(again);
      await failsWith(await again.get(there.comeBack(location, { iss })), "issuer-mismatch");
    }
    assert.equal(sent.status, 303);
  });

  test("login CSRF: a state that was given to another browser, once used, or never given, signs nobody in", async () => {
    const [attacker, victim] = [testBrowser(), testBrowser()];
    await visit(victim, org);
    const back = there.comeBack((await start(attacker)).location ?? "");
    await failsWith(await victim.get(back), "other-browser");
    assert.ok(showsConsent(await follow(attacker, await attacker.get(back))), "the right one may still come");
    await failsWith(await attacker.get(back), "state-unknown");
    await failsWith(await attacker.get(back.replace(/state=[^&]*/, "state=made-up")), "state-unknown");
    await failsWith(await attacker.get(back.replace(/&?state=[^&]*/, "")), "state-unknown");
    const late = testBrowser();
    const tooLate = there.comeBack((await start(late)).location ?? "");
    clock.advance(10 * 60_000 + 1);
    await failsWith(await late.get(tooLate), "state-unknown");
  });

  test("of many that come back with one state at once, one signs in", async () => {
    const browser = testBrowser();
    const back = there.comeBack((await start(browser)).location ?? "");
    const pages = await Promise.all(Array.from({ length: 5 }, () => browser.get(back)));
    assert.deepEqual(pages.map(({ status }) => status).sort(), [303, 400, 400, 400, 400]);
  });

  test("a provider that denies, errs, redirects, is slow or answers garbage is named, and the rest is offered", async () => {
    const browser = testBrowser();
    const { location = "" } = await start(browser);
    const denied = await browser.get(there.comeBack(location, { code: undefined, error: "access_denied" }));
    await failsWith(denied, "upstream-denied");
    assert.match(denied.body, /There/);
    for (const id of ["connection-retry", "connection-other"])
      assert.match(denied.body, new RegExp(`id="${id}"`));
    const faults = [
      [{ status: 500, body: {} }, "upstream-error"],
      [{ status: 400, body: { error: "invalid_client" } }, "upstream-error"],
      [{ status: 302, headers: { location: "http://127.0.0.1/" }, body: {} }, "upstream-garbage"],
      [{ body: "<html>", headers: { "content-type": "text/html" } }, "upstream-garbage"],
      [{ body: "{" }, "upstream-garbage"],
      [{ body: { access_token: "at", token_type: "Bearer" } }, "upstream-garbage"],
      [{ body: { access_token: "at", token_type: "Bearer", id_token: "no.jwt" } }, "upstream-garbage"],
      [{ body: "x".repeat(65 * 1024) }, "upstream-garbage"],
    ] as const;
    for (const [answer, reason] of faults) {
      there.answers.set("/token", answer);
      await failsWith(await signIn(), reason);
    }
    there.answers.set("/token", "silent");
    await failsWith(await signIn(), "upstream-timeout");
  });

  test("an account that is there is never given to who merely claims its address", async () => {
    for (const email of [org.user.email, org.user.email.toUpperCase()]) {
      there.claims = { sub: "intruder", email };
      const browser = testBrowser();
      assert.match((await signIn(browser)).body, /id="link-account"/);
      assert.ok(showsLogin(await visit(browser, org)), "not signed in");
    }
    // Unverified, as by default: no word about whether there is an account.
    const answers: string[] = [];
    for (const email of [org.user.email, "nobody@there.example", undefined, "no address"]) {
      there.claims = { sub: "intruder", email, email_verified: false };
      there.userinfo = { sub: "intruder" };
      const page = await signIn();
      await failsWith(page, "accounts-not-created");
      answers.push(page.body.replace(/flow=[\w.-]+|<code>.*?<\/code>|nonce="[^"]*"/g, ""));
    }
    assert.equal(new Set(answers).size, 1);
    assert.equal(await account("nobody@there.example"), undefined);
  });

  test("a provider speaks for a domain that is proven and routed to it: it makes accounts, and links where it may", async () => {
    const { service } = running;
    const orgId = org.organisation.id;
    const trusting = { emailTrust: "provenDomains" } as const;
    const own = await connect("Own domain", { ...trusting, linking: "verifiedEmail" });
    const refused = async (of: Connection, reason: string) => {
      assert.match((await signIn(testBrowser(), of)).body, /id="connection-error"/);
      assert.equal((await lastSignIn(of))?.reason, reason);
    };
    const asksToLink = async (of: Connection) =>
      assert.match((await signIn(testBrowser(), of)).body, /id="link-account"/);
    there.claims = { sub: "eve", email: "eve@proven.example" };
    await refused(own, "accounts-not-created");
    const { id, domain } = await provenDomain(service, orgId, {
      domain: "proven.example",
      connectionId: own.id,
    });
    assert.ok(showsConsent(await signIn(testBrowser(), own)));
    assert.equal((await account(`eve@${domain}`))?.emailVerified, true);
    // Not for those of another domain, nor for those that it says nobody has confirmed.
    there.claims = { sub: "x1", email: "x@sub.proven.example" };
    await refused(own, "accounts-not-created");
    there.claims = { sub: "x2", email: "new@proven.example", email_verified: false };
    await refused(own, "accounts-not-created");

    const person = { organisation: org.organisation, firstname: "Uma", surname: "Berg", actor: "test" };
    const make = (email: string, emailVerified: boolean) =>
      createUser(service, {
        ...person,
        email,
        emailVerified,
        role: "Standard",
        password: "plum tractor ninety",
      });
    const known = await make("uma@proven.example", true);
    there.claims = { sub: "uma", email: "uma@proven.example" };
    assert.ok(showsConsent(await signIn(testBrowser(), own)));
    assert.equal(
      (await findIdentity(service.database.query, { orgId, connectionId: own.id, subject: "uma" }))?.userId,
      known,
    );
    there.claims = { sub: "another uma", email: "uma@proven.example" };
    await refused(own, "already-linked");
    await make("early@proven.example", false);
    there.claims = { sub: "early", email: "early@proven.example" };
    await asksToLink(own);

    // Another connection, which the domain does not lead to; one that never links; a domain whose proof has lapsed.
    await make("kim@proven.example", true);
    there.claims = { sub: "kim", email: "kim@proven.example" };
    const other = await connect("Other domain", { emailTrust: "verifiedClaim", linking: "verifiedEmail" });
    await asksToLink(other);
    const never = await connect("Never", { ...trusting, linking: "never" });
    await changeDomain(service, { orgId, actor: "test", id, change: { connectionId: never.id } });
    await refused(never, "email-taken");
    await refused(own, "accounts-not-created");
    await changeDomain(service, { orgId, actor: "test", id, change: { connectionId: own.id } });
    for (let day = 0; day < 2; day++) {
      await storeProof(service, { orgId, id, actor: "test", answer: { records: [] } });
      clock.advance(7 * 86_400_000);
    }
    await refused(own, "accounts-not-created");
  });

  test("max_age and prompt=login are held against the provider's own sign-in", async () => {
    const authTime = (secondsAgo: number) => ({ auth_time: Math.floor(clock() / 1000) - secondsAgo });
    there.claims = {};
    await failsWith(await signIn(testBrowser(), connection, { max_age: "300" }), "stale-authentication");
    there.claims = authTime(500);
    await failsWith(await signIn(testBrowser(), connection, { max_age: "300" }), "stale-authentication");
    await failsWith(await signIn(testBrowser(), connection, { prompt: "login" }), "stale-authentication");
    there.claims = authTime(0);
    assert.ok(showsConsent(await signIn(testBrowser(), connection, { prompt: "login" })));
  });

  test("a disabled account does not come in, nor any by a connection that is disabled half-way", async () => {
    there.claims = { sub: "leaver", email: "leaver@there.example" };
    assert.ok(showsConsent(await signIn()));
    const { id = "" } = (await account("leaver@there.example")) ?? {};
    const { id: orgId } = org.organisation;
    await setUserStatus(running.service, { orgId, actor: "test", id, disabled: true });
    await failsWith(await signIn(), "account-disabled");
    const closing = await connect("Closing");
    const browser = testBrowser();
    const back = there.comeBack((await start(browser, closing)).location ?? "");
    const asked = { kind: "oidc", name: "Closing", enabled: false, clientSecret: undefined } as const;
    await changeSignInConnection(running.service, {
      ...{ orgId, actor: "test", id: closing.id },
      ask: () => ({ ...asked, settings: settings() }),
    });
    assert.equal((await browser.get(back)).status, 404);
    assert.doesNotMatch((await visit(testBrowser(), org)).body, new RegExp(closing.id));
  });

  test("who may make no accounts makes none, and discovery of another issuer is none of it", async () => {
    const closed = await connect("Closed", { createAccounts: false });
    there.claims = { sub: "closed", email: "closed@there.example" };
    assert.equal((await signIn(testBrowser(), closed)).status, 403);
    assert.equal(await account("closed@there.example"), undefined);
    const moved = await connect("Moved", {
      oidc: { issuer: `${there.issuer}/moved`, clientId: "signet" },
    });
    there.answers.set("/moved/.well-known/openid-configuration", {
      body: { issuer: "https://other.example" },
    });
    const page = await start(testBrowser(), moved);
    assert.equal(page.status, 400);
    assert.equal((await lastSignIn(moved))?.reason, "issuer-mismatch");
  });
});
