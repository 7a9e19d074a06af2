import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import type { SignetErrorCode } from "../errors.ts";
import {
  CLIENT_ID,
  createTestProvider,
  ISSUER,
  PERM_ID,
  type TestProvider,
  type TokenChanges,
} from "../testing/test-provider.ts";
import { type BackchannelOptions, backchannelAuthenticate } from "./backchannel-authentication.ts";

const configuration = {
  ...{ issuer: ISSUER, oauthClientId: CLIENT_ID, oauthClientSecret: "s3cret" },
  oauthScopes: "openid email",
};

let provider: TestProvider;
let begun: () => Response;
/** What the token endpoint answers, in turn; the last one stays. */
let script: (() => Response | Promise<Response>)[];
let waits: number[];
let requested: number[];

const oauthError =
  (error: string, status = 400) =>
  () =>
    Response.json({ error }, { status });
const pending = oauthError("authorization_pending");

beforeEach(async () => {
  provider = await createTestProvider();
  provider.metadata["backchannel_authentication_endpoint"] = `${ISSUER}/bc-authorize`;
  begun = () => Response.json({ auth_req_id: "ar", expires_in: 300, interval: 7 });
  [waits, requested] = [[], []];
  script = [pending, () => tokens()];
  for (const [path, answer] of [
    ["/bc-authorize", () => begun()],
    ["/token", () => (script.length > 1 ? script.splice(0, 1) : script)[0]?.() ?? pending()],
  ] as const)
    provider.answers.set(path, async (request) => {
      provider.forms.push(new URLSearchParams(await request.text()));
      return answer();
    });
});

async function tokens(changes?: TokenChanges, more: object = {}): Promise<Response> {
  const id_token = await provider.idToken(changes);
  return Response.json({ access_token: "at", token_type: "Bearer", expires_in: 600, id_token, ...more });
}

function ask(options: Partial<BackchannelOptions> = {}, more: object = {}) {
  const wait = async (milliseconds: number) => {
    waits.push(milliseconds / 1000);
    provider.advance(milliseconds / 1000);
  };
  const { fetch, clock } = provider;
  return backchannelAuthenticate(
    { ...configuration, ...more },
    {
      ...{ fetch, clock, wait, loginHint: "nina@northwind.example" },
      onRequested: ({ expiresAt }) => void requested.push(expiresAt),
      ...options,
    },
  );
}

const failing = (code: SignetErrorCode, error?: string) => ({
  code,
  ...(error === undefined ? {} : { oauthError: error }),
});

test("the user is asked with what the program says, and the result says who has agreed", async () => {
  const started = provider.clock();
  const { accessToken, claims } = await ask({
    ...{ bindingMessage: "W4SCT", acrValues: "urn:x", requestedExpiry: 120 },
    ...{ authorizationDetails: [{ type: "payment", amount: 5 }], resource: "https://api.example" },
  });
  assert.deepEqual([accessToken, claims?.sub], ["at", PERM_ID]);
  assert.deepEqual(requested, [started + 300_000]);
  const poll = {
    ...{ grant_type: "urn:openid:params:grant-type:ciba", auth_req_id: "ar" },
    resource: "https://api.example",
  };
  assert.deepEqual(
    provider.forms.map((form) => Object.fromEntries(form)),
    [
      {
        ...{ scope: "openid email", resource: "https://api.example", login_hint: "nina@northwind.example" },
        ...{ binding_message: "W4SCT", acr_values: "urn:x", requested_expiry: "120" },
        authorization_details: '[{"type":"payment","amount":5}]',
      },
      poll,
      poll,
    ],
  );
  assert.deepEqual(waits, [7, 7]);
});

test("polls more slowly on slow_down, which lasts, and while the provider is unavailable", async () => {
  const busy = () => new Response(null, { status: 503 });
  script = [pending, oauthError("slow_down"), pending, busy, () => tokens()];
  await ask();
  assert.deepEqual(waits, [7, 7, 12, 12, 24]);
});

test("ends with the provider's code when the user declines, nobody answers, or the request is refused", async () => {
  script = [oauthError("access_denied")];
  await assert.rejects(ask(), failing("provider_refused", "access_denied"));
  script = [oauthError("expired_token")];
  await assert.rejects(ask(), failing("provider_refused", "expired_token"));
  script = [pending];
  await assert.rejects(ask(), failing("provider_refused", "expired_token"));
  const polls = provider.forms.length;
  for (const code of ["unknown_user_id", "invalid_binding_message", "unauthorized_client"]) {
    begun = oauthError(code);
    await assert.rejects(ask(), failing("provider_refused", code));
  }
  assert.equal(provider.forms.length, polls + 3, "none of them is polled for");
});

test("the program stops waiting by its signal, and one that is aborted asks nobody", async () => {
  const stop = new AbortController();
  script = [pending];
  const wait = async (milliseconds: number, signal: AbortSignal | undefined) => {
    assert.equal(signal, stop.signal);
    waits.push(milliseconds);
    if (waits.length === 2) stop.abort(new Error("enough"));
  };
  await assert.rejects(ask({ signal: stop.signal, wait }), /enough/);
  assert.equal(waits.length, 2);
  const asked = provider.forms.length;
  await assert.rejects(ask({ signal: stop.signal }), /enough/);
  assert.equal(provider.forms.length, asked);
});

test("tokens without an ID token, with an invalid one, or of another user than the hint names are nobody's", async () => {
  script = [() => tokens({}, { id_token: undefined })];
  await assert.rejects(ask(), failing("token_claim_missing"));
  script = [() => tokens({ claims: { aud: "other", azp: undefined } })];
  await assert.rejects(ask(), failing("token_audience"));
  const idTokenHint = await provider.idToken();
  const byHint = { loginHint: undefined, idTokenHint } as unknown as Partial<BackchannelOptions>;
  script = [() => tokens({ claims: { sub: "somebody-else" } })];
  await assert.rejects(ask(byHint), failing("token_subject"));
  script = [() => tokens()];
  assert.equal((await ask(byHint)).claims?.sub, PERM_ID);
});

test("a response without auth_req_id or expires_in is no request", async () => {
  for (const body of [{ expires_in: 300 }, { auth_req_id: "ar" }, { auth_req_id: 7, expires_in: 300 }, []]) {
    begun = () => Response.json(body);
    await assert.rejects(ask(), failing("provider_answer"), JSON.stringify(body));
  }
  assert.deepEqual(requested, []);
});

test("what can't work is refused before anything is sent", async () => {
  const none = { loginHint: undefined } as unknown as Partial<BackchannelOptions>;
  for (const [options, more] of [
    [none, {}],
    [{ idTokenHint: "a.b.c" }, {}],
    [{}, { oauthClientSecret: undefined }],
    [{}, { oauthScopes: "email" }],
  ] as const)
    await assert.rejects(ask(options, more), failing("configuration"), JSON.stringify([options, more]));
  assert.equal(provider.forms.length, 0);
  provider.metadata["backchannel_authentication_endpoint"] = undefined;
  await assert.rejects(ask(), failing("provider_answer"));
});
