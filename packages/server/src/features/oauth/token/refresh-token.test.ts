import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, before, test } from "node:test";
import { atHash } from "@signet/protocol/jose/jws";
import { listAuditEvents } from "../../../core/audit/audit.store.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { type CodeSource, codeSource } from "../../../testing/fakes/code-source.ts";
import { type FakeClock, fakeClock } from "../../../testing/fakes/fake-clock.ts";
import { type Answer, credentials, postForm, refresh } from "../../../testing/fixtures/client.ts";
import { assertOAuthError, payloadOf } from "../../../testing/probes/answers.ts";
import {
  makeClient,
  makeOrganisation,
  REDIRECT_URI,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../../testing/test-service.ts";

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

  const refused = (answer: Answer, about = "") => assertOAuthError(answer, 400, "invalid_grant", about);
  const active = async (token: string) =>
    (await postForm(`${org.issuer}/introspect`, { token, ...credentials(org.web) })).body["active"];
  const DAY = 86_400_000;

  test("rotates the refresh token", async () => {
    const first = await source.tokens();
    const second = await refresh(org, first.refreshToken);
    assert.equal(second.status, 200);
    assert.equal(second.headers.get("cache-control"), "no-store");
    assert.notEqual(second.body["refresh_token"], first.refreshToken);
    assert.notEqual(second.body["access_token"], first.accessToken);
    assert.equal((await refresh(org, String(second.body["refresh_token"]))).status, 200);
  });

  test("gives the same successor until it is used, and then revokes the family", async () => {
    const first = await source.tokens();
    const successor = (await refresh(org, first.refreshToken)).body["refresh_token"];
    let again = await refresh(org, first.refreshToken);
    // A stall of the database, a train in a tunnel: the response was lost for longer than a few seconds.
    for (const lost of [9_000, 15_000, 3_600_000]) {
      clock.advance(lost);
      again = await refresh(org, first.refreshToken);
      assert.equal(again.body["refresh_token"], successor);
      assert.equal(await active(String(again.body["access_token"])), true);
    }
    const { body } = await refresh(org, String(successor));
    refused(await refresh(org, first.refreshToken));
    refused(await refresh(org, String(body["refresh_token"])), "the replay ended the family");
    assert.equal(await active(String(again.body["access_token"])), false, "and its access tokens");
  });

  test("notes a repeat after the reuse interval in the audit log, and none before", async () => {
    const { refreshToken } = await source.tokens();
    const repeats = async () => {
      const events = await listAuditEvents(running.service.database.query, org.organisation.id, 200);
      return events.filter(({ action }) => action === "refresh-token.repeated").length;
    };
    const before = await repeats();
    for (const [pause, noted] of [
      [0, 0],
      [9_999, 0],
      [1, 1],
    ] as const) {
      await refresh(org, refreshToken);
      clock.advance(pause);
      assert.equal((await refresh(org, refreshToken)).status, 200);
      assert.equal((await repeats()) - before, noted, `${pause}`);
    }
    // Whoever holds the token cannot fill the log with it.
    for (let count = 0; count < 5; count++) await refresh(org, refreshToken);
    assert.equal((await repeats()) - before, 1);
  });

  test("the previous token ends with the lifetime of its successor", async () => {
    const { refreshToken } = await source.tokens();
    await refresh(org, refreshToken);
    clock.advance(DAY);
    refused(await refresh(org, refreshToken));
  });

  test("treats the older token as a replay once its successor was used", async () => {
    const first = await source.tokens();
    const second = String((await refresh(org, first.refreshToken)).body["refresh_token"]);
    const third = String((await refresh(org, second)).body["refresh_token"]);
    refused(await refresh(org, first.refreshToken));
    refused(await refresh(org, third));
  });

  test("treats a much older token as a replay", async () => {
    const { refreshToken, accessToken } = await source.tokens();
    let living = refreshToken;
    for (let count = 0; count < 5; count++)
      living = String((await refresh(org, living)).body["refresh_token"]);
    refused(await refresh(org, refreshToken));
    refused(await refresh(org, living));
    assert.equal(await active(accessToken), false);
  });

  test("issues one successor to a hundred concurrent refreshes", async () => {
    const { refreshToken } = await source.tokens();
    const answers = await Promise.all(Array.from({ length: 100 }, () => refresh(org, refreshToken)));
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
    const successors = new Set(answers.map(({ body }) => body["refresh_token"]));
    assert.equal(successors.size, 1);
    assert.equal((await refresh(org, String([...successors][0]))).status, 200);
  });

  test("lets one of a hundred concurrent refreshes win without a grace window, and revokes the family", async () => {
    const strict = await makeClient(running.service, org.organisation, {
      redirectUris: [REDIRECT_URI],
      refreshTokenGraceSeconds: 0,
    });
    const { refreshToken } = await source.tokens({}, strict);
    const answers = await Promise.all(
      Array.from({ length: 100 }, () => refresh(org, refreshToken, {}, strict)),
    );
    const good = answers.filter(({ status }) => status === 200);
    assert.equal(good.length, 1);
    refused(await refresh(org, String(good[0]?.body["refresh_token"]), {}, strict));
  });

  test("rejects another client's refresh token and leaves it active", async () => {
    const { refreshToken } = await source.tokens();
    const thief = await makeClient(running.service, org.organisation, { redirectUris: [REDIRECT_URI] });
    refused(await refresh(org, refreshToken, {}, thief));
    const form = { grant_type: "refresh_token", refresh_token: refreshToken, client_id: org.native.id };
    refused(await postForm(`${org.issuer}/token`, form), "a public client");
    assert.equal((await refresh(org, refreshToken)).status, 200);
    refused(await refresh(org, refreshToken, {}, thief), "nor does its replay of a rotated one end it");
    assert.equal((await refresh(org, refreshToken)).status, 200, "within the window");
  });

  test("rejects another organisation's refresh token and revokes nothing", async () => {
    const other = await makeOrganisation(running.service, "Elsewhere");
    const { refreshToken } = await source.tokens();
    refused(await refresh(other, refreshToken));
    assert.equal((await refresh(org, refreshToken)).status, 200);
  });

  test("rejects a refresh without the client secret and revokes nothing", async () => {
    const { refreshToken } = await source.tokens();
    const bare = {
      grant_type: "refresh_token",
      refresh_token: refreshToken,
      client_id: org.web.application.id,
    };
    assertOAuthError(await postForm(`${org.issuer}/token`, bare), 401, "invalid_client");
    const wrong = await postForm(`${org.issuer}/token`, { ...bare, client_secret: "wrong" });
    assertOAuthError(wrong, 401, "invalid_client");
    assert.equal((await refresh(org, refreshToken)).status, 200);
  });

  test("revokes nothing when a token has a known family and a forged secret", async () => {
    const { refreshToken } = await source.tokens();
    const bytes = Buffer.from(refreshToken.slice("sgn_rt_".length), "base64url");
    for (const tail of [
      randomBytes(40),
      Buffer.alloc(40),
      Buffer.concat([bytes.subarray(16, 55), Buffer.of(bytes.readUInt8(55) ^ 1)]),
    ]) {
      const forged = Buffer.concat([bytes.subarray(0, 16), tail]);
      refused(await refresh(org, `sgn_rt_${forged.toString("base64url")}`));
    }
    for (const spelling of [
      `${refreshToken}=`,
      `${refreshToken} `,
      refreshToken.toUpperCase(),
      `${refreshToken}A`,
    ]) {
      refused(await refresh(org, spelling), spelling);
    }
    assert.equal((await refresh(org, refreshToken)).status, 200);
  });

  test("rejects other credentials as refresh tokens", async () => {
    const { accessToken, idToken } = await source.tokens();
    const { code } = await source.code();
    const cookie = [...source.browser.cookies.values()][0] ?? "";
    for (const token of [
      accessToken,
      idToken,
      code,
      cookie,
      org.web.secret,
      "x",
      "sgn_rt_",
      "a".repeat(60_000),
    ]) {
      refused(await refresh(org, token), token.slice(0, 40));
    }
    assertOAuthError(await refresh(org, ""), 400, "invalid_request", "missing");
  });

  test("narrows the scope for one refresh, never widens it", async () => {
    const { refreshToken, body } = await source.tokens({ scope: "openid profile email" });
    assert.equal(body["scope"], "openid profile email");
    const less = await refresh(org, refreshToken, { scope: " email  " });
    assert.equal(less.body["scope"], "email");
    assert.equal(payloadOf(less.body["access_token"])["scope"], "email");
    assert.equal(less.body["id_token"], undefined, "without openid there is no ID token");
    const next = String(less.body["refresh_token"]);
    for (const more of ["openid phone", "openid profile email offline_access", 'a"b', "x".repeat(9_000)]) {
      assertOAuthError(await refresh(org, next, { scope: more }), 400, "invalid_scope", more.slice(0, 40));
    }
    const all = await refresh(org, next);
    assert.equal(all.body["scope"], "openid profile email");
  });

  test("keeps sub, auth_time and nonce in the ID token of a refresh", async () => {
    for (const nonce of ["", "n-1"]) {
      const first = await source.tokens({ nonce });
      clock.advance(5_000);
      const { body } = await refresh(org, first.refreshToken);
      const [was, is] = [payloadOf(first.idToken), payloadOf(body["id_token"])];
      for (const claim of ["iss", "sub", "aud", "auth_time", "azp", "sid", "amr", "acr"])
        assert.deepEqual(is[claim], was[claim], claim);
      assert.equal(Number(is["iat"]) - Number(was["iat"]), 5);
      assert.equal(is["nonce"], nonce === "" ? undefined : nonce);
      assert.equal(is["at_hash"], atHash(String(body["access_token"]), "ES256"));
      assert.deepEqual(Object.keys(is).sort(), Object.keys(was).sort());
    }
  });

  test("expires an unused refresh token, and a used family at its absolute lifetime", async () => {
    const client = await makeClient(running.service, org.organisation, {
      redirectUris: [REDIRECT_URI],
      refreshTokenLifetimeSeconds: 86_400,
      refreshTokenAbsoluteLifetimeSeconds: 3 * 86_400,
    });
    const idle = await source.tokens({ scope: "openid offline_access" }, client);
    const used = await source.tokens({ scope: "openid offline_access" }, client);
    clock.advance(DAY - 1);
    const second = await refresh(org, used.refreshToken, {}, client);
    assert.equal(second.status, 200);
    clock.advance(1);
    refused(await refresh(org, idle.refreshToken, {}, client), "idle");
    clock.advance(DAY - 2);
    const third = await refresh(org, String(second.body["refresh_token"]), {}, client);
    assert.equal(third.status, 200);
    clock.advance(DAY - 10);
    const fourth = await refresh(org, String(third.body["refresh_token"]), {}, client);
    assert.equal(fourth.status, 200);
    const form = { token: String(fourth.body["refresh_token"]), ...credentials(client) };
    const { exp } = (await postForm(`${org.issuer}/introspect`, form)).body;
    assert.equal(
      exp,
      Math.floor((clock() + 12) / 1000),
      "no token says that it lives longer than its family",
    );
    clock.advance(12);
    refused(await refresh(org, String(fourth.body["refresh_token"]), {}, client), "absolute");
  });

  test("rejects a revoked refresh token and its family", async () => {
    const { refreshToken } = await source.tokens();
    const next = String((await refresh(org, refreshToken)).body["refresh_token"]);
    const revoked = await postForm(`${org.issuer}/revoke`, { token: next, ...credentials(org.web) });
    assert.equal(revoked.status, 200);
    refused(await refresh(org, next));
    refused(await refresh(org, refreshToken), "not even within the grace window");
  });
});
