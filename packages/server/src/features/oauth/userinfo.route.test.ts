import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { createUser, setUserStatus } from "../../core/users/users.ts";
import { forEachDatabase } from "../../testing/databases.ts";
import { type CodeSource, codeSource } from "../../testing/fakes/code-source.ts";
import { type FakeClock, fakeClock } from "../../testing/fakes/fake-clock.ts";
import { type Answer, credentials, postForm } from "../../testing/fixtures/client.ts";
import { assertOAuthError, headerOf, payloadOf, sendRaw } from "../../testing/probes/answers.ts";
import { forgedTokens, signedByService } from "../../testing/probes/forged-tokens.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../testing/test-service.ts";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  let clock: FakeClock;
  let createdAt: number;
  let source: CodeSource;
  let url: string;
  before(async () => {
    clock = fakeClock();
    running = await startTestService({ databaseUrl: await fresh(), clock });
    org = await makeOrganisation(running.service);
    createdAt = clock();
    source = codeSource(org);
    url = `${org.issuer}/userinfo`;
  });
  after(async () => {
    await running.close();
    assert.deepEqual(running.errors, []);
  });

  const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
  const get = (token: string, at = url) => sendRaw(at, { headers: bearer(token) });
  const post = (form: Record<string, string>, headers: Record<string, string> = {}) =>
    sendRaw(url, { method: "POST", body: new URLSearchParams(form), headers });
  /** RFC 6750 §3: the challenge says the same as the body. */
  const refused = (answer: Answer, status: number, code: string, about = "") => {
    assertOAuthError(answer, status, code, about);
    const scope = code === "insufficient_scope" ? ', scope="openid"' : "";
    const expected = `Bearer realm="${org.organisation.id}", error="${code}", error_description="${answer.body["error_description"]}"${scope}`;
    assert.equal(answer.headers.get("www-authenticate"), expected, about);
  };

  test("returns the claims of the granted scopes only, with the sub of the ID token", async () => {
    const all = {
      openid: {},
      profile: {
        name: "Uma User",
        preferred_username: "user@acme.example",
        given_name: "Uma",
        family_name: "User",
        role: "Standard",
        org_id: org.organisation.id,
        updated_at: Math.floor(createdAt / 1_000),
      },
      email: { email: "user@acme.example", email_verified: true },
      phone: { phone_number: "+4512345678", phone_number_verified: false },
      address: {},
      offline_access: {},
    };
    for (const scopes of [["openid"], ["openid", "email"], Object.keys(all)]) {
      const { accessToken, idToken } = await source.tokens({ scope: scopes.join(" ") });
      const { status, body, headers } = await get(accessToken);
      assert.equal(status, 200);
      assert.equal(headers.get("cache-control"), "no-store");
      assert.match(headers.get("content-type") ?? "", /^application\/json/);
      const claims = scopes.map((scope) => all[scope as keyof typeof all]);
      assert.deepEqual(body, Object.assign({ sub: payloadOf(idToken)["sub"] }, ...claims));
    }
  });

  test("omits claims without a value, never null or empty", async () => {
    const bare = { email: "bare@acme.example", password: "plum tractor ninety" };
    const made = {
      organisation: org.organisation,
      firstname: "",
      surname: "Solo",
      role: "Standard",
    } as const;
    const rest = { emailVerified: false, actor: "test" };
    const id = await createUser(running.service, { ...made, ...bare, ...rest });
    const own = codeSource({ ...org, user: { id, ...bare } });
    const { accessToken } = await own.tokens({ scope: "openid profile email phone" });
    assert.deepEqual((await get(accessToken)).body, {
      sub: id,
      name: "Solo",
      preferred_username: "bare@acme.example",
      family_name: "Solo",
      role: "Standard",
      org_id: org.organisation.id,
      updated_at: Math.floor(clock() / 1_000),
      email: "bare@acme.example",
      email_verified: false,
    });
  });

  test("accepts GET, POST with the header and POST with a form", async () => {
    const { accessToken } = await source.tokens();
    const answers = [
      await get(accessToken),
      await sendRaw(url, { method: "POST", headers: bearer(accessToken) }),
      await post({ access_token: accessToken }),
      await sendRaw(url, { headers: { authorization: `bearer  ${accessToken}` } }),
    ];
    for (const { status, body } of answers) assert.deepEqual([status, body], [200, answers[0]?.body]);
  });

  test("responds with invalid_request to two tokens, a repeated token and a token in the query", async () => {
    const { accessToken } = await source.tokens();
    refused(await post({ access_token: accessToken }, bearer(accessToken)), 400, "invalid_request");
    refused(await post({ access_token: accessToken }, { authorization: "Basic x" }), 400, "invalid_request");
    const form = { "content-type": "application/x-www-form-urlencoded" };
    const twice = { method: "POST", headers: form, body: `access_token=${accessToken}&access_token=x` };
    refused(await sendRaw(url, twice), 400, "invalid_request", "repeated");
    const query = `${url}?access_token=${accessToken}`;
    for (const headers of [{}, bearer(accessToken)])
      refused(await sendRaw(query, { headers }), 400, "invalid_request", "in the query");
    const json = { method: "POST", headers: { "content-type": "application/json" }, body: "{}" };
    assertOAuthError(await sendRaw(url, json), 415, "invalid_request");
  });

  test("responds to a request without a token with a challenge that has no error code", async () => {
    const headers = [
      {},
      { authorization: "Basic abc" },
      { authorization: "Bearer" },
      { authorization: "Bearer a b" },
    ];
    for (const sent of headers as Record<string, string>[]) {
      const answer = await sendRaw(url, { headers: sent });
      assertOAuthError(answer, 401, "invalid_token");
      assert.equal(answer.headers.get("www-authenticate"), `Bearer realm="${org.organisation.id}"`);
    }
    assert.equal((await post({})).status, 401);
  });

  test("requires the scope openid", async () => {
    const { accessToken } = await source.tokens({ scope: "profile email" });
    refused(await get(accessToken), 403, "insufficient_scope");
    const form = { grant_type: "client_credentials", ...credentials(org.batch) };
    const { body } = await postForm(`${org.issuer}/token`, form);
    refused(await get(String(body["access_token"])), 403, "insufficient_scope", "a client's own token");
  });

  test("responds with invalid_token to every forged token", async () => {
    const { accessToken } = await source.tokens();
    const forged = await forgedTokens(running.service, org.organisation.id, accessToken);
    assert.ok(Object.keys(forged).length > 20);
    for (const [what, token] of Object.entries(forged)) {
      // Not every text fits into the header's grammar; the form takes them all.
      refused(await post({ access_token: token }), 401, "invalid_token", what);
    }
    assert.equal((await get(accessToken)).status, 200);
  });

  test("rejects other tokens that Signet signed as access tokens", async () => {
    const { accessToken, idToken, refreshToken } = await source.tokens();
    const { code } = await source.code();
    for (const token of [idToken, refreshToken, code, org.web.secret, "x", "a".repeat(60_000)])
      refused(await post({ access_token: token }), 401, "invalid_token", token.slice(0, 20));
    const payload = payloadOf(accessToken);
    const signed = (header: object, claims: object) =>
      signedByService(running.service, org.organisation.id, header, claims);
    const at = { typ: "at+jwt" };
    assert.equal((await get(await signed(at, payload))).status, 200, "the forger's tool works");
    assert.equal((await get(await signed({ typ: "application/at+jwt" }, payload))).status, 200);
    const wrong: Record<string, string> = {
      "no type": await signed({}, payload),
      "an ID token's type": await signed({ typ: "JWT" }, payload),
      "a logout token's type": await signed({ typ: "logout+jwt" }, payload),
      "another issuer": await signed(at, { ...payload, iss: `${org.issuer}/` }),
      "no issuer": await signed(at, { ...payload, iss: undefined }),
      "another client": await signed(at, { ...payload, client_id: org.organisation.id }),
      "another family": await signed(at, { ...payload, jti: Buffer.alloc(32, 1).toString("base64url") }),
      expired: await signed(at, { ...payload, exp: Math.floor(clock() / 1000) }),
      "without end": await signed(at, { ...payload, exp: undefined }),
    };
    for (const [what, token] of Object.entries(wrong)) refused(await get(token), 401, "invalid_token", what);
  });

  test("rejects an expired token, a revoked token and a token of a disabled user", async () => {
    const [late, gone, revoked] = [await source.tokens(), await source.tokens(), await source.tokens()];
    await postForm(`${org.issuer}/revoke`, { token: revoked.accessToken, ...credentials(org.web) });
    refused(await get(revoked.accessToken), 401, "invalid_token", "revoked");
    clock.advance(Number(payloadOf(late.accessToken)["exp"]) * 1000 - clock() - 1);
    assert.equal((await get(late.accessToken)).status, 200);
    clock.advance(1);
    refused(await get(late.accessToken), 401, "invalid_token", "expired");
    const user = { orgId: org.organisation.id, id: org.user.id, actor: "test" };
    await setUserStatus(running.service, { ...user, disabled: true });
    refused(await get(gone.accessToken), 401, "invalid_token", "disabled");
    await setUserStatus(running.service, { ...user, disabled: false });
  });

  test("rejects another organisation's token, under its own keys or this organisation's", async () => {
    const other = await makeOrganisation(running.service, "Elsewhere");
    const { accessToken } = await source.tokens();
    const foreign = await get(accessToken, `${other.issuer}/userinfo`);
    assertOAuthError(foreign, 401, "invalid_token");
    const theirs = await codeSource(other).tokens();
    refused(await get(theirs.accessToken), 401, "invalid_token");
    const crossed = await signedByService(
      running.service,
      other.organisation.id,
      { typ: "at+jwt" },
      payloadOf(accessToken),
    );
    refused(await get(crossed), 401, "invalid_token", "our claims, their key");
    const ours = await signedByService(
      running.service,
      org.organisation.id,
      { typ: "at+jwt", kid: headerOf(theirs.accessToken)["kid"] },
      payloadOf(accessToken),
    );
    refused(await get(ours), 401, "invalid_token", "our key under their kid");
  });
});
