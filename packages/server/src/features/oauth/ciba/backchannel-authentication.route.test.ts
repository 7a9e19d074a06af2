import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { sql } from "kysely";
import { cibaGrantType } from "../../../core/applications/application.ts";
import { listAuditEvents } from "../../../core/audit/audit.store.ts";
import { setUserStatus } from "../../../core/users/users.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { testBrowser } from "../../../testing/fakes/browser.ts";
import { type FakeClock, fakeClock } from "../../../testing/fakes/fake-clock.ts";
import { quickPasswords } from "../../../testing/fakes/quick-passwords.ts";
import { askUser, makeCibaClient, requestAuthentication } from "../../../testing/fixtures/ciba.ts";
import { credentials, postForm } from "../../../testing/fixtures/client.ts";
import { tokensOf, withUser } from "../../../testing/fixtures/visit.ts";
import { assertOAuthError } from "../../../testing/probes/answers.ts";
import {
  makeClient,
  makeOrganisation,
  REDIRECT_URI,
  startTestService,
  type TestClient,
  type TestOrganisation,
  type TestService,
} from "../../../testing/test-service.ts";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  let clock: FakeClock;
  let client: TestClient;
  before(async () => {
    clock = fakeClock();
    running = await startTestService({
      databaseUrl: await fresh(),
      clock,
      passwords: quickPasswords,
      env: { SIGNET_RATE_LIMITS: "ciba-client-user=50/900,ciba-user=60/900" },
    });
    org = await makeOrganisation(running.service);
    client = await makeCibaClient(running.service, org, { allowedResources: ["https://api.example"] });
  });
  after(async () => {
    assert.deepEqual(running.errors, []);
    await running.close();
  });

  const ask = (form: Record<string, string>, as = client) =>
    requestAuthentication(org, as, { login_hint: org.user.email, ...form });

  test("responds as CIBA Core §7.3 defines, uncacheable", async () => {
    const { status, headers, body } = await ask({});
    assert.equal(status, 200);
    assert.equal(headers.get("cache-control"), "no-store");
    const { auth_req_id, ...rest } = body;
    assert.match(String(auth_req_id), /^sgn_ar_[A-Za-z0-9_-]{43}$/);
    assert.deepEqual(rest, { expires_in: 300, interval: 5 });
  });

  test("stores the hash of the auth_req_id only, and tells whom it asked", async () => {
    const { authReqId } = await askUser(org, client);
    const { database } = running.service;
    const { rows } = await sql`select * from ciba_request`.execute(database.query);
    assert.ok(rows.length > 0 && !JSON.stringify(rows).includes(authReqId));
    const [event] = await listAuditEvents(database.query, org.organisation.id, 1);
    assert.equal(event?.action, "ciba-request.created");
    assert.equal(event?.actor, `client:${client.application.id}`);
    assert.equal(event?.target, org.user.id);
  });

  test("takes a shorter expiry, and no longer one", async () => {
    assert.equal((await ask({ requested_expiry: "60" })).body["expires_in"], 60);
    assert.equal((await ask({ requested_expiry: "86400" })).body["expires_in"], 300);
    for (const requested_expiry of ["0", "-1", "1.5", "soon", "9".repeat(30)])
      assertOAuthError(await ask({ requested_expiry }), 400, "invalid_request");
  });

  test("finds the user by email address in any case, by sub, and by an ID token of the client, expired or not", async () => {
    const web = await makeClient(running.service, org.organisation, {
      grantTypes: ["authorization_code", cibaGrantType],
      redirectUris: [REDIRECT_URI],
    });
    const { idToken } = await tokensOf(testBrowser(), org, {}, web);
    assert.equal((await ask({ login_hint: org.user.email.toUpperCase() })).status, 200);
    assert.equal((await ask({ login_hint: org.user.id })).status, 200);
    const byToken = (id_token_hint: string, as: TestClient) =>
      postForm(`${org.issuer}/bc-authorize`, { ...credentials(as), scope: "openid", id_token_hint });
    assert.equal((await byToken(idToken, web)).status, 200);
    clock.advance(86_400_000);
    assert.equal((await byToken(idToken, web)).status, 200);
    assertOAuthError(await byToken(idToken, client), 400, "invalid_request");
    assertOAuthError(await byToken(`${idToken.slice(0, -4)}AAAA`, web), 400, "invalid_request");
  });

  test("wants exactly one hint that it knows", async () => {
    const none = { ...credentials(client), scope: "openid" };
    for (const hints of [
      {},
      { login_hint: org.user.email, id_token_hint: "x" },
      { login_hint_token: "x" },
      { login_hint: org.user.email, login_hint_token: "x" },
    ])
      assertOAuthError(
        await postForm(`${org.issuer}/bc-authorize`, { ...none, ...hints }),
        400,
        "invalid_request",
      );
  });

  test("answers alike for unknown, disabled and foreign users, and for who may not use the application", async () => {
    const gone = await withUser(running.service, org, "gone@acme.example");
    await setUserStatus(running.service, {
      ...{ orgId: org.organisation.id, id: gone.user.id, actor: "test", disabled: true },
    });
    const elsewhere = await makeOrganisation(running.service, "Elsewhere");
    const closed = await makeCibaClient(running.service, org, { access: "assigned" });
    const answers = [
      await ask({ login_hint: "nobody@acme.example" }),
      await ask({ login_hint: gone.user.email }),
      await ask({ login_hint: elsewhere.user.id }),
      await ask({ login_hint: "x".repeat(300) }),
      await ask({}, closed),
    ];
    for (const answer of answers) {
      assertOAuthError(answer, 400, "unknown_user_id");
      assert.deepEqual(answer.body, answers[0]?.body);
    }
  });

  test("takes plain text as binding message", async () => {
    for (const binding_message of ["W4SCT", "Betal 120 kr. til Ærø", "日".repeat(100)])
      assert.equal((await ask({ binding_message })).status, 200);
    for (const binding_message of ["x".repeat(101), "a\nb", "a\u202eb", " ", "a\u200bb"])
      assertOAuthError(await ask({ binding_message }), 400, "invalid_binding_message");
  });

  test("wants openid, and checks scopes and resources as at authorize", async () => {
    assertOAuthError(await ask({ scope: "" }), 400, "invalid_request");
    const nameless = { ...credentials(client), login_hint: org.user.email };
    assertOAuthError(await postForm(`${org.issuer}/bc-authorize`, nameless), 400, "invalid_request");
    assertOAuthError(await ask({ scope: "profile" }), 400, "invalid_scope");
    assertOAuthError(await ask({ scope: "admin unknown" }), 400, "invalid_scope");
    assertOAuthError(await ask({ resource: "https://other.example" }), 400, "invalid_target");
    assert.equal((await ask({ resource: "https://api.example" })).status, 200);
    assertOAuthError(await ask({ authorization_details: "[]" }), 400, "invalid_authorization_details");
    assertOAuthError(await ask({ request: "x.y.z" }), 400, "invalid_request");
    assertOAuthError(await ask({ acr_values: "x".repeat(501) }), 400, "invalid_request");
  });

  test("wants an authenticated client with the grant, and no public one has it", async () => {
    assertOAuthError(await ask({ client_secret: "wrong" }), 401, "invalid_client");
    assertOAuthError(await ask({}, org.web), 400, "unauthorized_client");
    const form = { client_id: org.native.id, scope: "openid", login_hint: org.user.email };
    assertOAuthError(await postForm(`${org.issuer}/bc-authorize`, form), 400, "unauthorized_client");
    const other = await makeOrganisation(running.service, "Third");
    const foreign = await makeCibaClient(running.service, other);
    assertOAuthError(await ask({}, foreign), 401, "invalid_client");
  });

  test("limits what one user is asked by one client, and tells when to come again", async () => {
    const busy = await startTestService({ databaseUrl: await fresh(), clock, passwords: quickPasswords });
    const here = await makeOrganisation(busy.service);
    const own = await makeCibaClient(busy.service, here);
    const form = { login_hint: here.user.email };
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => requestAuthentication(here, own, form)),
    );
    const refused = answers.filter(({ status }) => status !== 200);
    assert.equal(refused.length, 3);
    for (const answer of refused) {
      assertOAuthError(answer, 429, "temporarily_unavailable");
      assert.ok(Number(answer.headers.get("retry-after")) > 0);
    }
    clock.advance(15 * 60_000 + 1_000);
    assert.equal((await requestAuthentication(here, own, form)).status, 200);
    await busy.close();
  });
});
