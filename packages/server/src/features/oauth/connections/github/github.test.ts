// Sign-in at GitHub: an account by its number and its verified primary address, and nothing by an answer that is not right.
import assert from "node:assert/strict";
import { after, afterEach, before, describe, test } from "node:test";
import type { Connection } from "../../../../core/connections/connection.ts";
import { failureStatus } from "../../../../core/connections/sign-in/failure.ts";
import { findIdentity } from "../../../../core/connections/sign-in/linked-identities.store.ts";
import type { AskedSettings } from "../../../../core/connections/sign-in/settings-rules.ts";
import { createSignInConnection } from "../../../../core/connections/sign-in/sign-in-connections.ts";
import { listConnectionSignIns } from "../../../../core/connections/sign-in/sign-in-log.store.ts";
import { findUserByEmail } from "../../../../core/users/users.store.ts";
import { forEachDatabase } from "../../../../testing/databases.ts";
import { testBrowser } from "../../../../testing/fakes/browser.ts";
import { type FakeGithub, startFakeGithub } from "../../../../testing/fakes/github.ts";
import { MAIL_ENV } from "../../../../testing/fakes/mailbox.ts";
import { type ApiClient, makeApiClient } from "../../../../testing/fixtures/api-client.ts";
import { provenDomain } from "../../../../testing/fixtures/routed-domain.ts";
import { startUpstream } from "../../../../testing/fixtures/upstream-sign-in.ts";
import { type Asked, follow, logIn, showsConsent, visit } from "../../../../testing/fixtures/visit.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../../../testing/test-service.ts";
import { githubHost } from "./github-host.ts";

describe("addresses", () => {
  test("of github.com, of ghe.com and of a server of one's own", () => {
    const apis = ["https://github.com", "https://octo.ghe.com", "https://git.example:8443"].map((issuer) => {
      const { authorize, token, user, emails } = githubHost(issuer);
      assert.deepEqual(
        [authorize, token],
        [`${issuer}/login/oauth/authorize`, `${issuer}/login/oauth/access_token`],
      );
      assert.equal(emails, `${user}/emails?per_page=100`);
      return user;
    });
    assert.deepEqual(apis, [
      "https://api.github.com/user",
      "https://api.octo.ghe.com/user",
      "https://git.example:8443/api/v3/user",
    ]);
    // Another's name that only looks like one.
    assert.equal(githubHost("https://a.b.ghe.com").user, "https://a.b.ghe.com/api/v3/user");
  });
});

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  let there: FakeGithub;
  let api: ApiClient;
  let connection: Connection;
  before(async () => {
    const env = { ...MAIL_ENV, SIGNET_OUTBOUND_ALLOW: "127.0.0.1" };
    running = await startTestService({ databaseUrl: await fresh(), env });
    org = await makeOrganisation(running.service);
    there = await startFakeGithub();
    api = await makeApiClient(running.service, org, ["signet:connections:write", "signet:users:read"]);
    connection = await connect("GitHub", { emailTrust: "verifiedClaim" });
  });
  afterEach(() => there.reset());
  after(async () => {
    await there.close();
    assert.deepEqual(running.errors, []);
    await running.close();
  });

  const connect = (name: string, more: AskedSettings = {}, secret = "their secret") =>
    createSignInConnection(running.service, {
      ...{ orgId: org.organisation.id, actor: "test" },
      asked: {
        ...{ kind: "oauth", name, enabled: true, clientSecret: secret },
        settings: { preset: "github", oidc: { issuer: there.issuer, clientId: "signet" }, ...more },
      },
    });
  const start = (browser = testBrowser(), of = connection, asked?: Asked) =>
    startUpstream(browser, { running, org, connection: of, asked } as never);
  const signIn = async (of = connection, more: Readonly<Record<string, string | undefined>> = {}) => {
    const browser = testBrowser();
    return follow(browser, await browser.get(there.comeBack(await start(browser, of), more)));
  };
  const account = async (email: string) =>
    (await findUserByEmail(running.service.database.query, org.organisation.id, email))?.user;
  const linkedTo = async (subject: string, of = connection) => {
    const key = { orgId: org.organisation.id, connectionId: of.id, subject };
    return (await findIdentity(running.service.database.query, key))?.userId;
  };
  const lastSignIn = async ({ id }: Connection = connection) => {
    const key = { orgId: org.organisation.id, id };
    const all = await listConnectionSignIns(running.service.database.query, key, {
      now: running.service.clock(),
    });
    return all[0];
  };

  test("the request has code, PKCE, state, the scopes and the hint", async () => {
    const sentTo = await start(testBrowser(), connection, { more: { login_hint: "octocat" } });
    const { origin, pathname, searchParams } = new URL(sentTo);
    assert.equal(origin + pathname, `${there.issuer}/login/oauth/authorize`);
    const asked = Object.fromEntries(searchParams);
    const { state = "", code_challenge: challenge = "", ...rest } = asked;
    assert.ok(state.length >= 43 && challenge.length === 43);
    assert.deepEqual(rest, {
      ...{ response_type: "code", client_id: "signet", scope: "read:user user:email", login: "octocat" },
      redirect_uri: `${running.baseUrl}/oauth/${org.organisation.id}/connections/${connection.id}/callback`,
      code_challenge_method: "S256",
    });
  });

  test("the verified primary address makes an account, which the number finds again whatever else changes", async () => {
    assert.ok(showsConsent(await signIn()));
    const made = await account("octocat@octo.example");
    assert.deepEqual(
      [made?.firstname, made?.surname, made?.emailVerified, made?.role],
      ["monalisa octocat", "", true, "Standard"],
    );
    assert.equal(await linkedTo("583231"), made?.id);
    assert.equal(await account("shown@octo.example"), undefined, "what the profile shows is nobody's");
    for (const path of ["/api/v3/user", "/api/v3/user/emails"])
      assert.ok(there.asked.some((asked) => asked.path === path));
    there.user = { login: "renamed", name: "Somebody" };
    there.emails = [{ email: org.user.email, verified: true, primary: true }];
    assert.ok(showsConsent(await signIn()));
    assert.deepEqual(await lastSignIn(), {
      ...(await lastSignIn()),
      outcome: "succeeded",
      subject: "583231",
    });
    // The login of one who has left, taken by another: another number, another account.
    there.user = { id: 99, login: "octocat" };
    there.emails = [{ email: "ninety-nine@octo.example", verified: true, primary: true }];
    await signIn();
    assert.notEqual(await linkedTo("99"), made?.id);
  });

  test("an address that is not primary and verified is no proof: the person shows it by a code", async () => {
    const unproven: readonly unknown[] = [
      [{ email: "new@octo.example", verified: false, primary: true }],
      [{ email: "new@octo.example", verified: "true", primary: true }],
      [{ email: "new@octo.example", verified: true, primary: false }],
      [],
      { message: "no list" },
    ];
    for (const [index, emails] of unproven.entries()) {
      there.user = { id: 1_000 + index };
      there.emails = emails;
      const page = await signIn();
      assert.match(page.body, /Confirm your email address/, JSON.stringify(emails));
      assert.equal(await linkedTo(String(1_000 + index)), undefined);
    }
    // Without the scope GitHub says that there is no such thing.
    for (const status of [403, 404]) {
      there.answers.set("/api/v3/user/emails", { status, body: { message: "Not Found" } });
      assert.match((await signIn(await connect(`Scopeless ${status}`))).body, /Confirm your email address/);
    }
  });

  test("an account that is there is linked by a proven domain, or by its own factors", async () => {
    await provenDomain(running.service, org.organisation.id, { domain: "octo.test", connectionId: null });
    there.emails = [{ email: org.user.email, verified: true, primary: true }];
    there.user = { id: 2_000 };
    assert.match((await signIn()).body, /id="link-account"|link-submit/);
    assert.equal(await linkedTo("2000"), undefined);
  });

  test("what GitHub refuses, denies, garbles or leaves out is named, and signs nobody in", async () => {
    const told = async (reason: Parameters<typeof failureStatus>[0], of = connection, more = {}) => {
      const page = await signIn(of, more);
      assert.equal(page.status, failureStatus(reason), reason);
      assert.match(page.body, /id="connection-error"/, reason);
      assert.match(page.body, /id="connection-other"/, reason);
      assert.equal((await lastSignIn(of))?.reason, reason);
    };
    await told("upstream-denied", connection, { code: undefined, error: "access_denied" });
    await told("upstream-error", connection, { code: undefined, error: "application_suspended" });
    await told("upstream-garbage", connection, { code: undefined });
    await told("issuer-mismatch", connection, { iss: "https://other.example/login/oauth" });
    await told("issuer-mismatch", connection, { iss: "" });
    await told("upstream-error", connection, { code: "made-up" });
    await told("upstream-error", await connect("Wrong secret", {}, "another secret"));
    const faults = [
      ["/login/oauth/access_token", { body: { token_type: "bearer" } }, "upstream-garbage"],
      [
        "/login/oauth/access_token",
        { body: { access_token: "a\r\nb", token_type: "bearer" } },
        "upstream-garbage",
      ],
      ["/login/oauth/access_token", { body: { access_token: "at", token_type: "mac" } }, "upstream-garbage"],
      ["/login/oauth/access_token", { body: "<html>" }, "upstream-garbage"],
      ["/login/oauth/access_token", { status: 500, body: {} }, "upstream-error"],
      ["/api/v3/user", { status: 401, body: {} }, "upstream-error"],
      ["/api/v3/user", { status: 302, headers: { location: "http://127.0.0.1/" } }, "upstream-garbage"],
      ["/api/v3/user", { body: "x".repeat(65 * 1024) }, "upstream-garbage"],
      ["/api/v3/user", { body: [] }, "upstream-garbage"],
      ["/api/v3/user/emails", { status: 500, body: {} }, "upstream-error"],
      ["/api/v3/user", "silent", "upstream-timeout"],
    ] as const;
    for (const [path, answer, reason] of faults) {
      there.reset();
      there.answers.set(path, answer);
      await told(reason);
    }
    there.reset();
    for (const id of [undefined, null, "583231", 0, -1, 1.5, 2 ** 53]) {
      there.user = { id };
      await told("subject-missing");
    }
  });

  test("a code is exchanged with the verifier of its own start, by this browser, once", async () => {
    const [attacker, victim] = [testBrowser(), testBrowser()];
    const [mine, theirs] = [await start(attacker), await start(victim)];
    // The attacker's code in the victim's answer: PKCE does not fit.
    const code = new URL(there.comeBack(mine)).searchParams.get("code") ?? "";
    assert.equal((await victim.get(there.comeBack(theirs, { code }))).status, 502);
    const back = there.comeBack(await start(attacker));
    assert.equal((await victim.get(back)).status, 400);
    const twice = `${back}&code=another`;
    assert.match((await attacker.get(twice)).body, /id="connection-error"/);
    assert.equal((await lastSignIn())?.reason, "upstream-garbage");
    assert.equal((await attacker.get(back)).status, 400, "the state was used up");
  });

  test("max_age is refused, for GitHub never says when somebody signed in", async () => {
    const page = await visit(testBrowser(), org, { more: { max_age: "600" } });
    const [link = ""] =
      new RegExp(`/oauth/[^"]*/connections/${connection.id}/start[^"]*`).exec(page.body) ?? [];
    const answer = await testBrowser().get(running.baseUrl + link.replaceAll("&amp;", "&"));
    assert.equal(answer.status, 400);
    assert.equal((await lastSignIn())?.reason, "stale-authentication");
  });

  test("the account page links it, after a choice of the account there", async () => {
    const browser = testBrowser();
    await logIn(browser, org, await visit(browser, org));
    const { body } = await browser.get(`${org.issuer}/account/security`);
    const [, href = ""] = new RegExp(`id="connection-link-${connection.id}" href="([^"]*)"`).exec(body) ?? [];
    const { location = "" } = await browser.get(running.baseUrl + href.replaceAll("&amp;", "&"));
    assert.equal(new URL(location).searchParams.get("prompt"), "select_account");
    there.user = { id: 3_000 };
    assert.match(
      (await follow(browser, await browser.get(there.comeBack(location)))).body,
      /Connection linked/,
    );
    assert.equal(await linkedTo("3000"), org.user.id);
  });

  test("a test sign-in shows what GitHub said and how it maps, and makes nothing", async () => {
    const { status, body } = await api.call("POST", `/connections/${connection.id}/test`);
    assert.equal(status, 201);
    const browser = testBrowser();
    there.user = { id: 4_000 };
    there.emails = [{ email: "test@octo.example", verified: true, primary: true }];
    const { location = "" } = await browser.get(String(body["url"]));
    const end = await browser.get(there.comeBack(location));
    assert.match(end.body, /id="connection-test-close"/);
    const read = await api.call("GET", `/connections/${connection.id}/tests/${String(body["id"])}`);
    const {
      state,
      reason,
      claims,
      mapped,
      account: becomes,
    } = read.body as Record<string, unknown> & Record<"claims" | "mapped", Record<string, unknown>>;
    assert.deepEqual([state, reason, becomes], ["succeeded", null, { action: "create", proof: [] }]);
    assert.deepEqual(
      [claims["id"], claims["login"], claims["email"], claims["email_verified"]],
      [4_000, "octocat", "test@octo.example", true],
    );
    assert.deepEqual([mapped["email"], mapped["emailVerified"]], ["test@octo.example", true]);
    assert.equal(await linkedTo("4000"), undefined);
  });

  test("its calls go through the guard: an address that is not allowed is called by nobody", async () => {
    const issuer = there.issuer.replace("127.0.0.1", "127.0.0.2");
    const forbidden = await connect("Forbidden", { oidc: { issuer, clientId: "signet" } });
    const browser = testBrowser();
    const sentTo = await start(browser, forbidden);
    const page = await browser.get(there.comeBack(sentTo, { iss: undefined }));
    assert.equal(page.status, 502);
    assert.equal((await lastSignIn(forbidden))?.reason, "upstream-unreachable");
  });

  test("an Enterprise host is an origin; anything else, and another preset of oauth, is refused", async () => {
    const make = (oidc: object, more: object = {}) =>
      api.call("POST", "/connections", {
        body: { kind: "oauth", preset: "github", name: "Host", oidc: { clientId: "a", ...oidc }, ...more },
      });
    const secret = { clientSecret: "a secret" };
    for (const issuer of [
      "https://git.example/",
      "https://git.example/path",
      "http://git.example",
      "git.example",
    ]) {
      const { status, body } = await make({ ...secret, issuer });
      assert.equal(status, 422, issuer);
      assert.match(JSON.stringify(body), /\/oidc\/issuer/, issuer);
    }
    assert.equal((await make({})).status, 422, "without a secret");
    assert.equal((await make(secret, { preset: "google" })).status, 422);
    assert.equal((await make(secret, { preset: null })).status, 422);
    const made = await make({ ...secret, issuer: "https://git.example" });
    assert.equal(made.status, 201, JSON.stringify(made.body));
    const { oidc } = (await make(secret, { name: "Public" })).body as { oidc: { issuer: string } };
    assert.equal(oidc.issuer, "https://github.com");
  });
});
