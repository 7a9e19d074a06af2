import assert from "node:assert/strict";
import { test } from "node:test";
import type { ConfigurationProperties } from "../configuration/settings.ts";
import { SignetError, type SignetErrorCode } from "../errors.ts";
import type { Filter, FilterResult, RequestContext } from "../filter.ts";
import { signedToken } from "../testing/signed-token.ts";
import {
  AUDIENCE,
  CLIENT_ID,
  createTestProvider,
  ISSUER,
  PERM_ID,
  type TokenChanges,
} from "../testing/test-provider.ts";
import { type OAuthUserBearerOptions, oauthUserBearer } from "./oauth-user-bearer.ts";

const provider = await createTestProvider();

function bearer(more: ConfigurationProperties = {}, options: OAuthUserBearerOptions = {}): Filter {
  const configuration = { issuer: ISSUER, oauthAudience: AUDIENCE, oauthScopes: "notes", ...more };
  const { fetch, clock } = provider;
  return oauthUserBearer({ filterType: "OAuthUserBearer", ...configuration }, { fetch, clock, ...options });
}

const filter = bearer();

function ask(authorization?: string, asked = filter, context?: RequestContext): Promise<FilterResult> {
  const headers = authorization === undefined ? {} : { authorization };
  return asked.authenticate(new Request("https://host.example/notes?x=1", { headers }), context);
}

async function principalOf(result: FilterResult | Promise<FilterResult>) {
  const settled = await result;
  assert.equal(settled.kind, "authenticated", JSON.stringify(settled));
  return settled.principal;
}

async function refusal(result: Promise<FilterResult>, code: SignetErrorCode, about = "") {
  const settled = await result;
  assert.equal(settled.kind, "answer", about);
  const { error, response } = settled;
  assert.ok(error instanceof SignetError, about);
  assert.equal(error.code, code, `${about}: ${error.message}`);
  assert.equal(response.status, error.status, about);
  assert.equal(response.headers.get("cache-control"), "no-store");
  const body = (await response.json()) as { error: string; error_description: string };
  return { response, body, challenge: response.headers.get("www-authenticate") ?? "" };
}

test("a valid token identifies the caller: a user, or a service acting for itself", async () => {
  const token = await provider.accessToken();
  const user = await principalOf(ask(`Bearer ${token}`));
  assert.deepEqual(
    [user.authenticatedBy, user.kind, user.subject, user.user?.permId, user.clientId, user.accessToken],
    ["OAuthUserBearer", "user", PERM_ID, PERM_ID, CLIENT_ID, token],
  );
  assert.deepEqual([...user.scopes], ["openid", "notes"]);
  assert.equal(user.claims["jti"], "jti-1");
  const own = await provider.accessToken({ claims: { sub: CLIENT_ID } });
  const service = await principalOf(ask(`bearer  ${own}`));
  assert.deepEqual([service.kind, service.subject, service.user], ["service", CLIENT_ID, undefined]);
});

test("without a token: 401 with the realm and no error code, or anonymous if allowed", async () => {
  const { challenge, body } = await refusal(ask(), "token_missing");
  assert.equal(challenge, `Bearer realm="${AUDIENCE}"`);
  assert.equal(body.error, "unauthorized");
  const optional = bearer({ isOptional: true });
  assert.deepEqual(await ask(undefined, optional), { kind: "anonymous", cookies: [] });
  await refusal(ask("Bearer abc", optional), "token_malformed");
  await refusal(ask("Basic YTpi", optional), "token_missing");
  const expired = await provider.accessToken({ claims: { exp: 1 } });
  await refusal(ask(`Bearer ${expired}`, optional), "token_expired");
});

test("a malformed header gets 400", async () => {
  const token = await provider.accessToken();
  const wrong = ["Bearer", "Bearer ", `Bearer ${token} ${token}`, `Bearer ${token}, Bearer ${token}`];
  for (const header of [...wrong, `Bearer token=${token};`, "Bearer æ", `Bearer=${token}`, "DPoP"]) {
    const { challenge, body } = await refusal(ask(header), "request_malformed", header);
    assert.equal(body.error, "invalid_request");
    assert.match(challenge, /error="invalid_request"/);
  }
});

test("a token anywhere but in the header is ignored", async () => {
  const token = await provider.accessToken();
  const inQuery = new Request(`https://host.example/?access_token=${token}`);
  await refusal(filter.authenticate(inQuery), "token_missing");
  const inForm = { method: "POST", body: new URLSearchParams({ access_token: token }) };
  await refusal(filter.authenticate(new Request("https://host.example/", inForm)), "token_missing");
  const inCookie = { headers: { cookie: `access_token=${token}` } };
  await refusal(filter.authenticate(new Request("https://host.example/", inCookie)), "token_missing");
});

test("an invalid token gets 401 invalid_token with the reason", async () => {
  const cases: [SignetErrorCode, TokenChanges][] = [
    ["token_audience", { claims: { aud: "https://other.example" } }],
    ["token_issuer", { claims: { iss: "https://evil.example" } }],
    ["token_expired", { claims: { exp: provider.clock() / 1000 - 61 } }],
    ["token_type", { header: { typ: "JWT" } }],
    ["token_key_unknown", { header: { kid: "other" } }],
    ["token_algorithm", { header: { alg: "none" } }],
  ];
  for (const [code, changes] of cases) {
    const { challenge, body, response } = await refusal(
      ask(`Bearer ${await provider.accessToken(changes)}`),
      code,
    );
    assert.equal(response.status, 401);
    assert.equal(body.error, "invalid_token");
    assert.match(challenge, /^Bearer realm="[^"]+", error="invalid_token", error_description="[^"]+"$/, code);
  }
  await refusal(ask(`Bearer ${await provider.idToken({ claims: { aud: AUDIENCE } })}`), "token_type");
});

test("every scope is required; without one: 403 naming them", async () => {
  const strict = bearer({ oauthScopes: "notes write" });
  const { response, challenge, body } = await refusal(
    ask(`Bearer ${await provider.accessToken()}`, strict),
    "insufficient_scope",
  );
  assert.equal(response.status, 403);
  assert.equal(body.error, "insufficient_scope");
  assert.match(challenge, /error="insufficient_scope".*, scope="notes write"$/);
  const none = await provider.accessToken({ claims: { scope: undefined } });
  await refusal(ask(`Bearer ${none}`), "insufficient_scope");
  const prefix = await provider.accessToken({ claims: { scope: "notes:read notesx" } });
  await refusal(ask(`Bearer ${prefix}`), "insufficient_scope");
  await principalOf(ask(`Bearer ${none}`, bearer({ oauthScopes: undefined } as never)));
});

test("a certificate-bound token is accepted only with that certificate", async () => {
  const der = Uint8Array.of(1, 2, 3);
  const cnf = { "x5t#S256": "A5BYxvLAy0ksUzsKTRTvd8wPeKvMztUofYShogEc-4E" };
  const bound = `Bearer ${await provider.accessToken({ claims: { cnf } })}`;
  await principalOf(ask(bound, filter, { clientCertificate: der }));
  await refusal(ask(bound), "token_not_proven");
  const other = { clientCertificate: Uint8Array.of(1, 2, 4) };
  const { challenge } = await refusal(ask(bound, filter, other), "token_not_proven");
  assert.match(challenge, /error="invalid_token"/);
  const unbound = `Bearer ${await provider.accessToken()}`;
  await principalOf(ask(unbound, filter, other));
});

test("an unknown or empty binding is rejected, never downgraded to a bearer token", async () => {
  const der = Uint8Array.of(1, 2, 3);
  const known = { "x5t#S256": "A5BYxvLAy0ksUzsKTRTvd8wPeKvMztUofYShogEc-4E" };
  const bindings = [
    {},
    [],
    null,
    "x5t#S256",
    { kid: "k" },
    { jwk: provider.key.jwk },
    { "x5t#S256": null },
    { ...known, kid: "k" },
    { ...known, jkt: "x" },
  ];
  for (const cnf of bindings) {
    const token = `Bearer ${await provider.accessToken({ claims: { cnf } })}`;
    await refusal(ask(token, filter, { clientCertificate: der }), "token_not_proven", JSON.stringify(cnf));
  }
});

test("while the provider is unavailable: 503 with Retry-After, never access", async () => {
  const away: typeof fetch = async () => {
    throw new TypeError("fetch failed");
  };
  const errors: Error[] = [];
  const lonely = bearer({}, { fetch: away, onError: (error) => errors.push(error) });
  const token = await provider.accessToken();
  const { response, body, challenge } = await refusal(ask(`Bearer ${token}`, lonely), "provider_unreachable");
  assert.equal(response.status, 503);
  assert.equal(response.headers.get("retry-after"), "5");
  assert.equal(challenge, "");
  assert.equal(body.error, "temporarily_unavailable");
  assert.equal(errors.length, 1);
  assert.ok(!JSON.stringify(body).includes(token));
});

test("an unprotective configuration is rejected at start", () => {
  assert.throws(() => bearer({ oauthAudience: undefined } as never), { code: "configuration" });
  assert.throws(() => bearer({ introspectTokens: true }), { code: "configuration" });
});

test("the user has every property of the specification, from userinfo, fetched once a minute and token", async () => {
  const own = await createTestProvider();
  const properties = { phone_number: "+45 1", role: "Administrator", org_id: "org-1" };
  Object.assign(own.userinfo, properties);
  const errors: Error[] = [];
  const make = (more: ConfigurationProperties = {}) =>
    bearer(more, { fetch: own.fetch, clock: own.clock, onError: (error) => errors.push(error) });
  const api = make();
  const token = await own.accessToken();
  const calls = () => own.calls.filter((call) => call.endsWith("/userinfo")).length;
  for (let count = 0; count < 3; count++)
    assert.deepEqual((await principalOf(ask(`Bearer ${token}`, api))).user, {
      permId: PERM_ID,
      email: "ada@example.com",
      firstname: "Ada",
      surname: "Lovelace",
      phone: "+45 1",
      organisationId: "org-1",
      role: "Administrator",
    });
  assert.equal(calls(), 1);
  own.userinfo["role"] = "Standard";
  own.advance(60);
  assert.equal((await principalOf(ask(`Bearer ${token}`, api))).user?.role, "Standard");
  // What the token says itself counts, and the claims remain the token's.
  const said = await own.accessToken({ claims: { email: "token@example.com" } });
  const principal = await principalOf(ask(`Bearer ${said}`, api));
  assert.equal(principal.user?.email, "token@example.com");
  assert.equal(principal.claims["given_name"], undefined);
  const before = calls();
  // A token without openid, a client's own, or with the calls switched off: nothing is fetched.
  await principalOf(ask(`Bearer ${await own.accessToken({ claims: { scope: "notes" } })}`, api));
  await principalOf(ask(`Bearer ${await own.accessToken({ claims: { sub: CLIENT_ID } })}`, api));
  await principalOf(ask(`Bearer ${token}`, make({ oauthUserinfo: false })));
  assert.equal(calls(), before);
  // Another user's userinfo, or none: the token is valid, the properties are unknown, the log hears of it.
  own.userinfo["sub"] = "somebody else";
  const other = make();
  assert.deepEqual((await principalOf(ask(`Bearer ${token}`, other))).user, {
    permId: PERM_ID,
    organisationId: ISSUER.slice(-36),
  });
  assert.deepEqual(
    errors.map((error) => (error as SignetError).code),
    ["token_subject"],
  );
});

test("a userinfo endpoint that hangs delays the first request only, not each token's", async () => {
  const own = await createTestProvider();
  const errors: Error[] = [];
  const onError = (error: Error) => void errors.push(error);
  const api = bearer({}, { fetch: own.fetch, clock: own.clock, onError });
  const emailWith = async (jti: string) =>
    (await principalOf(ask(`Bearer ${await own.accessToken({ claims: { jti } })}`, api))).user?.email;
  own.answers.set("/userinfo", () => new Response(null, { status: 503 }));
  assert.equal(await emailWith("1"), undefined);
  const { promise: hanging, resolve: end } = Promise.withResolvers<Response>();
  own.answers.set("/userinfo", () => hanging);
  // Would never return if it waited.
  for (const jti of ["2", "3", "2"]) assert.equal(await emailWith(jti), undefined);
  end(new Response(null, { status: 503 }));
  own.answers.delete("/userinfo");
  own.advance(5);
  assert.equal(await emailWith("1"), undefined, "asked for, not waited for");
  while ((await emailWith("1")) === undefined) await new Promise((resolve) => setImmediate(resolve));
  assert.equal(await emailWith("4"), "ada@example.com", "works again, with new tokens too");
});

test("with signing agents, userinfo counts when one of them has signed it for the token's client", async () => {
  const own = await createTestProvider();
  const errors: Error[] = [];
  const onError = (error: Error) => void errors.push(error);
  const api = bearer({ sovereignPublicKeys: [own.key.jwk] }, { fetch: own.fetch, clock: own.clock, onError });
  const roleTold = async (claims: Record<string, unknown>) => {
    const iat = own.clock() / 1000;
    const base = { iss: ISSUER, aud: CLIENT_ID, sub: PERM_ID, iat, role: "Administrator" };
    const header = { alg: own.key.alg, kid: own.key.kid, typ: "JWT" };
    const jwt = await signedToken(own.key, header, { ...base, ...claims });
    own.answers.set("/userinfo", () => new Response(jwt, { headers: { "content-type": "application/jwt" } }));
    const token = await own.accessToken({ claims: { jti: crypto.randomUUID() } });
    const { user, unsignedUserinfo } = await principalOf(ask(`Bearer ${token}`, api));
    assert.deepEqual(unsignedUserinfo, {});
    return user?.role;
  };
  assert.equal(await roleTold({}), "Administrator");
  assert.equal(await roleTold({ aud: AUDIENCE }), undefined);
  assert.equal(await roleTold({ iat: own.clock() / 1000 - 200 }), undefined);
  assert.deepEqual(
    errors.map((error) => (error as SignetError).code),
    ["token_audience", "token_expired"],
  );
});

test("with signing agents, unsigned userinfo counts for nothing", async () => {
  const own = await createTestProvider();
  Object.assign(own.userinfo, { role: "Administrator", org_id: "another" });
  const api = bearer({ sovereignPublicKeys: [own.key.jwk] }, { fetch: own.fetch, clock: own.clock });
  const principal = await principalOf(ask(`Bearer ${await own.accessToken()}`, api));
  assert.deepEqual(principal.user, { permId: PERM_ID, organisationId: ISSUER.slice(-36) });
  assert.equal(principal.unsignedUserinfo?.["role"], "Administrator");
});
