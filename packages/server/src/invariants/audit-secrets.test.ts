// The audit log contains no secret, and no input entered in place of one.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { sql } from "kysely";
import { createClientSecret } from "../core/applications/client-secrets.ts";
import { listAuditEvents, recordAuditEvent } from "../core/audit/audit.store.ts";
import { removeTotp, renewRecoveryCodes } from "../core/second-factors/changes.ts";
import { findUser } from "../core/users/users.store.ts";
import { setPassword } from "../core/users/users.ts";
import { forEachDatabase } from "../testing/databases.ts";
import { testBrowser } from "../testing/fakes/browser.ts";
import { codeSource, redeemWith } from "../testing/fakes/code-source.ts";
import { fakeClock } from "../testing/fakes/fake-clock.ts";
import { makeAgent, makePool } from "../testing/fixtures/agent.ts";
import { credentials, postForm } from "../testing/fixtures/client.ts";
import { enrol, newCode } from "../testing/fixtures/enrolments.ts";
import { giveAuthenticator } from "../testing/fixtures/factors.ts";
import { convertedKey, makeSessionKey } from "../testing/fixtures/session-key.ts";
import { callApi, makeSystemAccount } from "../testing/fixtures/system-account.ts";
import { decide, logIn, visit } from "../testing/fixtures/visit.ts";
import { dumpTable } from "../testing/probes/dump-database.ts";
import {
  makeOrganisation,
  PASSWORD,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../testing/test-service.ts";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  /** By what it is. */
  const secrets = new Map<string, string>();
  const seen = (what: string, secret: unknown): string => {
    assert.ok(typeof secret === "string" && secret.length >= 6, what);
    secrets.set(what, secret);
    return secret;
  };
  before(async () => {
    // Refusals are said once a minute: a clock that stands still is never at the end of one.
    running = await startTestService({ databaseUrl: await fresh(), clock: fakeClock() });
    org = await makeOrganisation(running.service);
    seen("password", PASSWORD);
    seen("client secret", org.web.secret);
  });
  after(async () => {
    await running.close();
    assert.deepEqual(running.errors, []);
  });

  const actions = async () => {
    const rows = await dumpTable(running.service.database.query, "audit_event");
    return new Set(rows.map((row) => (JSON.parse(row) as { action: string }).action));
  };

  test("successful and failed sign-ins", async () => {
    const browser = testBrowser();
    const page = await visit(browser, org);
    const login = (email: string, password: string) =>
      browser.post(`${org.issuer}/login`, { ...page.hidden, email, password });
    await login(org.user.email, seen("wrong password", "wrong-horse-battery"));
    await login(seen("password typed as an address", "typed-in-the-wrong-field"), "another-wrong-one");
    for (let attempt = 0; attempt < 14; attempt++) await login(org.user.email, "wrong-horse-battery");
    const { query } = running.service.database;
    const events = await listAuditEvents(query, org.organisation.id, 100);
    const limited = events.filter(({ action }) => action === "sign-in.limited");
    assert.equal(limited.length, 1, "said once, however often it was tried");
    assert.deepEqual([limited[0]?.target, limited[0]?.address], [org.user.id, "127.0.0.1"]);
    assert.equal(
      events.filter(({ target }) => target === org.user.id).length,
      12,
      "ten failures were looked at",
    );
    await sql`delete from rate_limit`.execute(query);
  });

  test("denied consent", async () => {
    const browser = testBrowser();
    const consent = await logIn(browser, org, await visit(browser, org));
    await decide(browser, org, consent, "deny");
    const [event] = await listAuditEvents(running.service.database.query, org.organisation.id, 1);
    assert.deepEqual([event?.action, event?.actor], ["consent.denied", `user:${org.user.id}`]);
  });

  test("codes and tokens: redeemed, replayed and revoked", async () => {
    const source = codeSource(org);
    const grant = await source.code({ scope: "openid offline_access" });
    seen("code", grant.code);
    seen("PKCE verifier", grant.verifier);
    const { body } = await redeemWith(org, grant);
    const refreshToken = seen("refresh token", body["refresh_token"]);
    const accessToken = seen("access token", body["access_token"]);
    seen("ID token", body["id_token"]);
    await postForm(`${org.issuer}/revoke`, { token: accessToken, ...credentials(org.web) });
    await postForm(`${org.issuer}/revoke`, { token: refreshToken, ...credentials(org.web) });
    const another = await source.code();
    await redeemWith(org, another);
    await redeemWith(org, another);
    const found = await actions();
    for (const action of [
      "consent.granted",
      "access-token.revoked",
      "refresh-token.revoked",
      "code.replayed",
    ])
      assert.ok(found.has(action), action);
  });

  test("clients and system accounts that fail to authenticate", async () => {
    const client_secret = seen("wrong client secret", `sgn_cs_${"w".repeat(43)}`);
    const client_id = org.web.application.id;
    await postForm(`${org.issuer}/token`, { grant_type: "client_credentials", client_id, client_secret });
    const account = await makeSystemAccount(running.service, org, { administrator: true });
    seen("secret key of a system account", account.secret);
    const wrong = { ...account, secret: seen("wrong secret key", "b".repeat(43)) };
    await callApi(`${running.baseUrl}/legacy/api/users/get`, wrong, { body: { Email: org.user.email } });
    const found = await actions();
    for (const action of ["application.refused", "system-account.refused"])
      assert.ok(found.has(action), action);
  });

  test("secrets that are created and shown once", async () => {
    const { service } = running;
    const { organisation, user } = org;
    const orgId = organisation.id;
    const made = {
      orgId,
      applicationId: org.web.application.id,
      label: "second",
      expiresAt: null,
      actor: "test",
    };
    seen("second client secret", (await createClientSecret(service, made)).plaintext);
    const key = seen("session key", await makeSessionKey(service, org));
    seen("converted session key", await convertedKey(service, key, "UserTemp"));
    const code = seen("enrollment code", await newCode(service, orgId, { name: "Till" }));
    await enrol(org.issuer, code);
    const agent = await makeAgent(service, org, await makePool(service, org));
    seen("API key of an agent", agent.apiKey);
    const app = await giveAuthenticator(service, org);
    seen("authenticator secret", app.secret);
    const owner = await findUser(service.database.query, orgId, user.id);
    assert.ok(owner);
    const change = { organisation, user: owner, actor: "test" };
    const deps = { ...service, baseUrl: service.config.baseUrl };
    for (const one of (await renewRecoveryCodes(deps, change)) ?? []) seen(`recovery code ${one}`, one);
    await removeTotp(deps, change);
    const password = seen("new password", "a-brand-new-passphrase");
    await setPassword(deps, { organisation, id: user.id, password, about: [], actor: "test" });
    const found = await actions();
    for (const action of [
      "client-secret.created",
      "session-key.issued",
      "device.enrolled",
      "signing-agent.registered",
    ])
      assert.ok(found.has(action), action);
    for (const action of ["recovery-codes.made", "authenticator.removed", "password.set"])
      assert.ok(found.has(action), action);
  });

  test("redacts a secret in an error text before it is stored", async () => {
    const secret = seen("secret in an error", `sgn_rt_${"x".repeat(43)}`);
    await recordAuditEvent(running.service.database.query, {
      orgId: org.organisation.id,
      at: 1,
      actor: "system",
      action: "mail.failed",
      target: secret,
      details: { reason: `the server said "${secret}"` },
    });
  });

  test("the audit log contains no secret", async () => {
    assert.ok(secrets.size >= 25, String(secrets.size));
    const rows = (await dumpTable(running.service.database.query, "audit_event")).join("\n");
    for (const [what, secret] of secrets) assert.ok(!rows.includes(secret), what);
  });
});
