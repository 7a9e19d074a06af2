import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import type { SignetErrorCode } from "../errors.ts";
import { pause } from "../pause.ts";
import { testKey } from "../testing/signed-token.ts";
import {
  CLIENT_ID,
  createTestProvider,
  ISSUER,
  PERM_ID,
  type TestProvider,
  type TokenChanges,
} from "../testing/test-provider.ts";
import { type DeviceGrantOptions, type DevicePrompt, deviceGrant } from "./device-grant.ts";
import type { TokenSet } from "./oauth-client.ts";
import { refreshingTokens } from "./token-source.ts";

const configuration = { issuer: ISSUER, oauthClientId: CLIENT_ID, oauthScopes: "openid email" };
const codes = {
  device_code: "dc",
  user_code: "BCDF-GHJK",
  verification_uri: `${ISSUER}/device/verify`,
  verification_uri_complete: `${ISSUER}/device/verify?user_code=BCDF-GHJK`,
  expires_in: 900,
  interval: 5,
};

let provider: TestProvider;
let begun: Record<string, unknown>;
/** What the token endpoint answers, in turn; the last one stays. */
let script: (() => Response | Promise<Response>)[];
let waits: number[];
let prompts: DevicePrompt[];

const oauthError = (error: string) => () => Response.json({ error }, { status: 400 });
const pending = oauthError("authorization_pending");

beforeEach(async () => {
  provider = await createTestProvider();
  provider.metadata["device_authorization_endpoint"] = `${ISSUER}/device`;
  begun = { ...codes };
  waits = [];
  prompts = [];
  script = [pending, () => tokens()];
  const record = async (request: Request) => {
    provider.forms.push(new URLSearchParams(await request.text()));
  };
  provider.answers.set("/device", async (request) => {
    await record(request);
    return Response.json(begun);
  });
  provider.answers.set("/token", async (request) => {
    await record(request);
    const [next = pending] = script.length > 1 ? script.splice(0, 1) : script;
    return next();
  });
});

async function tokens(changes?: TokenChanges, more: object = {}): Promise<Response> {
  const id_token = await provider.idToken(changes);
  const answer = { access_token: "at", token_type: "Bearer", expires_in: 3600, refresh_token: "rt-1" };
  return Response.json({ ...answer, id_token, ...more });
}

function signIn(options: Partial<DeviceGrantOptions> = {}, more: object = {}) {
  const wait = async (milliseconds: number) => {
    waits.push(milliseconds / 1000);
    provider.advance(milliseconds / 1000);
  };
  const onPrompt = (prompt: DevicePrompt) => void prompts.push(prompt);
  const { fetch, clock } = provider;
  return deviceGrant({ ...configuration, ...more }, { fetch, clock, onPrompt, wait, ...options });
}

const failing = (code: SignetErrorCode, oauthError?: string) => ({
  code,
  ...(oauthError === undefined ? {} : { oauthError }),
});

test("the user is shown the code, and the result says who signed in", async () => {
  const started = provider.clock();
  const { accessToken, refreshToken, claims } = await signIn();
  assert.deepEqual([accessToken, refreshToken, claims?.sub], ["at", "rt-1", PERM_ID]);
  assert.deepEqual(prompts, [
    {
      userCode: "BCDF-GHJK",
      verificationUri: codes.verification_uri,
      verificationUriComplete: codes.verification_uri_complete,
      expiresAt: started + 900_000,
    },
  ]);
  assert.deepEqual(
    provider.forms.map((form) => Object.fromEntries(form)),
    [
      { client_id: CLIENT_ID, scope: "openid email" },
      ...Array(2).fill({
        client_id: CLIENT_ID,
        device_code: "dc",
        grant_type: "urn:ietf:params:oauth:grant-type:device_code",
      }),
    ],
  );
  assert.deepEqual(waits, [5, 5]);
});

test("polls more slowly on slow_down, and while the provider is unavailable", async () => {
  const busy = () => new Response(null, { status: 503 });
  script = [pending, oauthError("slow_down"), pending, oauthError("slow_down"), busy, busy, () => tokens()];
  await signIn();
  assert.deepEqual(waits, [5, 5, 10, 10, 15, 30, 60]);
  begun = { ...codes, interval: undefined };
  waits = [];
  script = [() => tokens()];
  await signIn();
  assert.deepEqual(waits, [5]);
});

test("ends when the user declines, the code expires, or time is up", async () => {
  script = [oauthError("access_denied")];
  await assert.rejects(signIn(), failing("provider_refused", "access_denied"));
  script = [oauthError("expired_token")];
  await assert.rejects(signIn(), failing("provider_refused", "expired_token"));
  script = [pending];
  waits = [];
  await assert.rejects(signIn(), failing("provider_refused", "expired_token"));
  assert.equal(waits.length, 180);
});

test("the program can stop waiting", async () => {
  const stop = new AbortController();
  const wait = async (milliseconds: number, signal: AbortSignal | undefined) => {
    assert.equal(signal, stop.signal);
    waits.push(milliseconds);
    if (waits.length === 2) stop.abort(new Error("enough"));
  };
  script = [pending];
  await assert.rejects(signIn({ signal: stop.signal, wait }), /enough/);
  assert.equal(waits.length, 2);
  const later = new AbortController();
  const rejected = assert.rejects(
    signIn({
      signal: later.signal,
      wait: (_, signal) => {
        const ended = pause(3_600_000, signal);
        later.abort(new Error("later"));
        return ended;
      },
    }),
    /later/,
  );
  await rejected;
  await pause(3_600_000, stop.signal);
});

test("an invalid ID token ends it, and nobody is signed in", async () => {
  const wrong: [SignetErrorCode, TokenChanges][] = [
    ["token_audience", { claims: { aud: "other", azp: undefined } }],
    ["token_issuer", { claims: { iss: "https://evil.example" } }],
    ["token_expired", { claims: { exp: 1 } }],
    ["token_claim", { claims: { at_hash: "AAAAAAAAAAAAAAAAAAAAAA" } }],
  ];
  for (const [code, changes] of wrong) {
    script = [() => tokens(changes)];
    await assert.rejects(signIn(), failing(code), code);
  }
  script = [() => tokens({}, { id_token: undefined })];
  assert.equal((await signIn()).claims, undefined);
});

test("a response without a code, or with a URL that is no web page, is rejected and not shown", async () => {
  for (const change of [
    { device_code: undefined },
    { user_code: 7 },
    { verification_uri: "javascript:alert(1)" },
    { verification_uri: "http://id.example/verify" },
    { expires_in: "soon" },
  ]) {
    begun = { ...codes, ...change };
    await assert.rejects(signIn(), failing("provider_answer"), JSON.stringify(change));
  }
  assert.equal(prompts.length, 0);
  begun = { ...codes, verification_uri_complete: "javascript:alert(1)" };
  await signIn();
  assert.equal(prompts[0]?.verificationUriComplete, undefined);
  provider.metadata["device_authorization_endpoint"] = undefined;
});

test("the tokens are refreshed in time, and each new set is reported", async () => {
  const first = await signIn();
  const { fetch, clock } = provider;
  const kept: TokenSet[] = [];
  let count = 1;
  script = [
    () =>
      Response.json({
        ...{ access_token: `at-${++count}`, token_type: "Bearer", expires_in: 3600 },
        // RFC 6749 §6: a provider that does not rotate gives none.
        ...(count === 2 ? { refresh_token: "rt-2" } : {}),
      }),
  ];
  const onRefreshed = (set: TokenSet) => void kept.push(set);
  const api = refreshingTokens(configuration, first, { fetch, clock, onRefreshed });
  assert.equal(await api.token(), "at");
  provider.advance(3600);
  assert.deepEqual(await Promise.all([api.token(), api.token()]), ["at-2", "at-2"]);
  assert.deepEqual(Object.fromEntries(provider.forms.at(-1) ?? []), {
    client_id: CLIENT_ID,
    grant_type: "refresh_token",
    refresh_token: "rt-1",
  });
  for (const expected of ["at-3", "at-4"]) {
    provider.advance(3600);
    assert.equal(await api.token(), expected);
    assert.equal(provider.forms.at(-1)?.get("refresh_token"), "rt-2");
  }
  assert.deepEqual(
    kept.map(({ refreshToken }) => refreshToken),
    ["rt-2", "rt-2", "rt-2"],
  );
  script = [oauthError("invalid_grant")];
  provider.advance(3600);
  await assert.rejects(api.token(), failing("provider_refused", "invalid_grant"));
});

test("tokens that could not be stored are used anyway, because the old ones are no longer valid", async () => {
  const first = await signIn();
  const { fetch, clock } = provider;
  const onRefreshed = () => Promise.reject(new Error("disk full"));
  script = [() => tokens({}, { access_token: "at-2", refresh_token: "rt-2" })];
  const api = refreshingTokens(configuration, first, { fetch, clock, onRefreshed });
  provider.advance(3600);
  await assert.rejects(api.token(), /disk full/);
  assert.equal(await api.token(), "at-2");
});

test("without a refresh token, the sign-in ends with the access token", async () => {
  script = [() => tokens({}, { refresh_token: undefined })];
  const first = await signIn();
  const { fetch, clock } = provider;
  const api = refreshingTokens(configuration, first, { fetch, clock });
  assert.equal(await api.token(), "at");
  provider.advance(3600);
  await assert.rejects(api.token(), failing("provider_refused", "invalid_grant"));
});

test("an ID token has the registered algorithm, the default's or the configured one", async () => {
  const rsa = await testKey("rsa-1", "RS256");
  provider.keys.push(rsa.jwk);
  const byRsa = { key: rsa, header: { alg: "RS256", kid: "rsa-1" } };
  script = [() => tokens(byRsa)];
  await assert.rejects(signIn(), failing("token_algorithm"));
  assert.equal((await signIn({}, { oauthIdTokenAlg: "RS256" })).claims?.sub, PERM_ID);
  script = [() => tokens()];
  await assert.rejects(signIn({}, { oauthIdTokenAlg: "RS256" }), failing("token_algorithm"));
  await assert.rejects(signIn({}, { oauthIdTokenAlg: "none" }), failing("configuration"));
});

test("with signing agents the scopes are those that an agent has signed", async () => {
  const agent = await testKey("agent-1");
  const byAgent = { key: agent, header: { kid: "agent-1" } };
  const pins = { sovereignPublicKeys: [agent.jwk] };
  for (const [changes, expected] of [
    [byAgent, ["openid", "notes"]],
    [{ ...byAgent, claims: { client_id: "another" } }, []],
    [{ claims: { scope: "openid admin" } }, []],
  ] as const) {
    const access_token = await provider.accessToken(changes);
    script = [() => tokens(byAgent, { access_token, scope: "openid admin" })];
    const { scopes, unsignedScopes } = await signIn({}, pins);
    assert.deepEqual(scopes, expected);
    assert.deepEqual(unsignedScopes, ["openid", "admin"]);
  }
  script = [() => tokens()];
  assert.ok(!("unsignedScopes" in (await signIn())), "without agents nothing is called unsigned");
});
