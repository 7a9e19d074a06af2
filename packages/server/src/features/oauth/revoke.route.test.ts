import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { listAuditEvents } from "../../core/audit/audit.store.ts";
import { forEachDatabase } from "../../testing/databases.ts";
import { type CodeSource, codeSource } from "../../testing/fakes/code-source.ts";
import { type FakeClock, fakeClock } from "../../testing/fakes/fake-clock.ts";
import { type Answer, credentials, postForm, refresh } from "../../testing/fixtures/client.ts";
import { assertOAuthError, payloadOf, postText, sendRaw } from "../../testing/probes/answers.ts";
import {
  makeOrganisation,
  startTestService,
  type TestClient,
  type TestOrganisation,
  type TestService,
} from "../../testing/test-service.ts";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  let clock: FakeClock;
  let source: CodeSource;
  before(async () => {
    clock = fakeClock();
    running = await startTestService({ databaseUrl: await fresh(), clock });
    org = await makeOrganisation(running.service);
    source = codeSource(org);
  });
  after(async () => {
    await running.close();
    assert.deepEqual(running.errors, []);
  });

  const revoke = (token: string, client: TestClient = org.web, more: Record<string, string> = {}) =>
    postForm(`${org.issuer}/revoke`, { token, ...credentials(client), ...more });
  const assertDone = (answer: Answer, about = "") => {
    assert.equal(answer.status, 200, about);
    assert.deepEqual(answer.body, {}, about);
    assert.equal(answer.headers.get("cache-control"), "no-store", about);
  };
  const active = async (token: string, client: TestClient = org.web) =>
    (await postForm(`${org.issuer}/introspect`, { token, ...credentials(client) })).body["active"];
  const userinfo = async (token: string) =>
    (await sendRaw(`${org.issuer}/userinfo`, { headers: { authorization: `Bearer ${token}` } })).status;
  const jobToken = async () => {
    const form = { grant_type: "client_credentials", ...credentials(org.batch) };
    return String((await postForm(`${org.issuer}/token`, form)).body["access_token"]);
  };

  test("revokes an access token without its family", async () => {
    const { accessToken, refreshToken } = await source.tokens();
    assertDone(await revoke(accessToken));
    assert.equal(await active(accessToken), false);
    assert.equal(await userinfo(accessToken), 401);
    const next = await refresh(org, refreshToken);
    assert.equal(next.status, 200);
    assert.equal(await active(String(next.body["access_token"])), true);
  });

  test("revokes the family and its access tokens with a refresh token", async () => {
    const { accessToken, refreshToken } = await source.tokens();
    const next = await refresh(org, refreshToken);
    assertDone(await revoke(String(next.body["refresh_token"])));
    for (const token of [accessToken, String(next.body["access_token"])]) {
      assert.equal(await active(token), false);
      assert.equal(await userinfo(token), 401);
    }
    assertOAuthError(await refresh(org, String(next.body["refresh_token"])), 400, "invalid_grant");
  });

  test("revokes the family by an older refresh token too", async () => {
    const { accessToken, refreshToken } = await source.tokens();
    await refresh(org, refreshToken);
    assertDone(await revoke(refreshToken));
    assert.equal(await active(accessToken), false);
  });

  test("revokes one client credentials token and no other", async () => {
    const [first, second] = [await jobToken(), await jobToken()];
    assertDone(await revoke(first, org.batch));
    assert.equal(await active(first, org.batch), false);
    assert.equal(await active(second, org.batch), true);
  });

  test("accepts a token_type_hint that is right, wrong, unknown or absent", async () => {
    for (const hint of ["access_token", "refresh_token", "nonsense"]) {
      const { accessToken, refreshToken } = await source.tokens();
      assertDone(await revoke(accessToken, org.web, { token_type_hint: hint }), hint);
      assert.equal(await active(accessToken), false, hint);
      assertDone(await revoke(refreshToken, org.web, { token_type_hint: hint }), hint);
      assert.equal(await active(refreshToken), false, hint);
    }
  });

  test("responds with success to unknown, forged, expired and revoked tokens", async () => {
    const { accessToken, refreshToken } = await source.tokens();
    const forged = `${accessToken.slice(0, -4)}AAAA`;
    for (const token of ["x", "a.b.c", forged, "sgn_rt_x", `${refreshToken}x`, "a".repeat(60_000)]) {
      assertDone(await revoke(token), token.slice(0, 40));
    }
    for (let count = 0; count < 2; count++) {
      assertDone(await revoke(accessToken));
      assertDone(await revoke(refreshToken));
    }
    const expired = await jobToken();
    clock.advance(3_600_000);
    assertDone(await revoke(expired, org.batch));
  });

  test("rejects another client's token and leaves it active (RFC 7009 §2.1)", async () => {
    const { accessToken, refreshToken } = await source.tokens();
    for (const token of [accessToken, refreshToken]) {
      assertOAuthError(await revoke(token, org.batch), 400, "invalid_grant");
      const form = { token, client_id: org.native.id };
      assertOAuthError(await postForm(`${org.issuer}/revoke`, form), 400, "invalid_grant");
      assert.equal(await active(token), true);
    }
  });

  test("never revokes a token of another organisation", async () => {
    const other = await makeOrganisation(running.service, "Elsewhere");
    const { accessToken, refreshToken } = await source.tokens();
    for (const token of [accessToken, refreshToken]) {
      assertDone(await postForm(`${other.issuer}/revoke`, { token, ...credentials(other.web) }));
      assert.equal(await active(token), true);
    }
  });

  test("lets a public client revoke its own tokens", async () => {
    const native: TestClient = { application: org.native, secret: "" };
    const { accessToken, refreshToken } = await source.tokens({}, native);
    const form = { token: refreshToken, client_id: org.native.id };
    assertDone(await postForm(`${org.issuer}/revoke`, form));
    assert.equal(await userinfo(accessToken), 401);
  });

  test("revokes nothing when an ID token, a code or a secret is presented", async () => {
    const { idToken, accessToken } = await source.tokens();
    const grant = await source.code();
    for (const token of [idToken, grant.code, org.web.secret, String(payloadOf(accessToken)["jti"])]) {
      assertDone(await revoke(token));
    }
    assert.equal(await active(accessToken), true);
  });

  test("responds with invalid_request to a missing token and 415 to a body that is not a form", async () => {
    const body = new URLSearchParams(credentials(org.web)).toString();
    assertOAuthError(await postText(`${org.issuer}/revoke`, body), 400, "invalid_request");
    const json = await postText(`${org.issuer}/revoke`, "{}", { "content-type": "application/json" });
    assertOAuthError(json, 415, "invalid_request");
    assert.equal((await sendRaw(`${org.issuer}/revoke?token=x`, {})).status, 405);
  });

  test("audits the revocation of a family once", async () => {
    const count = async () => {
      const events = await listAuditEvents(running.service.database.query, org.organisation.id, 200);
      return events.filter(({ action }) => action === "refresh-token.revoked").length;
    };
    const before = await count();
    const { refreshToken } = await source.tokens();
    for (let time = 0; time < 3; time++) await revoke(refreshToken);
    assert.equal(await count(), before + 1);
  });
});
