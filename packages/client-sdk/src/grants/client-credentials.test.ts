import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { calculateJwkThumbprint, exportJWK, generateKeyPair, jwtVerify } from "jose";
import type { SignetErrorCode } from "../errors.ts";
import { CLIENT_ID, createTestProvider, ISSUER, type TestProvider } from "../testing/test-provider.ts";
import type { GrantConfiguration, GrantOptions } from "./grant-settings.ts";
import { clientCredentials } from "./token-source.ts";

let provider: TestProvider;
let issued: number;
let headers: Headers;
/** Calls of an API, and what it answers; the provider's `fetch` hands everything else over. */
let apiCalls: { authorization: string | null; body: string }[];
let api: (request: Request) => Response;

beforeEach(async () => {
  provider = await createTestProvider();
  issued = 0;
  apiCalls = [];
  api = () => new Response("done");
  answer(() => Response.json({ access_token: `token-${++issued}`, token_type: "Bearer", expires_in: 3600 }));
});

function answer(respond: (form: URLSearchParams) => Response | Promise<Response>, path = "/token"): void {
  provider.answers.set(path, async (request) => {
    headers = request.headers;
    const form = new URLSearchParams(await request.text());
    provider.forms.push(form);
    return respond(form);
  });
}

function source(more: GrantConfiguration = {}, options: GrantOptions = {}) {
  const fetchAll: typeof fetch = async (input, init) => {
    const request = new Request(input, init);
    if (request.url.startsWith(ISSUER)) return provider.fetch(request);
    apiCalls.push({ authorization: request.headers.get("authorization"), body: await request.text() });
    return api(request);
  };
  const configuration = { issuer: ISSUER, oauthClientId: CLIENT_ID, oauthClientSecret: "a secret:", ...more };
  return clientCredentials(configuration, { fetch: fetchAll, clock: provider.clock, ...options });
}

const lastForm = () => Object.fromEntries(provider.forms.at(-1) ?? []);
const failing = (code: SignetErrorCode) => ({ name: "SignetError", code });

test("requests one token for all concurrent and later callers", async () => {
  const jobs = source({ oauthScopes: "jobs:run jobs:read" }, { resource: "https://api.example" });
  assert.equal(issued, 0, "nothing before the first call");
  assert.deepEqual(await Promise.all([jobs.token(), jobs.token(), jobs.token()]), Array(3).fill("token-1"));
  assert.equal(await jobs.token(), "token-1");
  assert.deepEqual(lastForm(), {
    grant_type: "client_credentials",
    scope: "jobs:run jobs:read",
    resource: "https://api.example",
  });
  assert.equal(headers.get("authorization"), `Basic ${btoa(`${CLIENT_ID}:a+secret%3A`)}`);
});

test("renews a token a minute before it expires, or in the last fifth of a short lifetime", async () => {
  const jobs = source();
  await jobs.token();
  provider.advance(3539);
  assert.equal(await jobs.token(), "token-1");
  provider.advance(1);
  assert.equal(await jobs.token(), "token-2");
  answer(() => Response.json({ access_token: `short-${++issued}`, token_type: "bearer", expires_in: 10 }));
  const short = source();
  await short.token();
  provider.advance(7);
  assert.equal(await short.token(), "short-3");
  provider.advance(1);
  assert.equal(await short.token(), "short-4");
});

test("a token without expires_in isn't kept for long", async () => {
  answer(() => Response.json({ access_token: `token-${++issued}`, token_type: "Bearer" }));
  const jobs = source();
  await jobs.token();
  provider.advance(60);
  assert.equal(await jobs.token(), "token-2");
});

test("while the provider is unavailable, the old token is used until it expires, and retries are limited", async () => {
  const jobs = source();
  await jobs.token();
  let tries = 0;
  answer(() => {
    tries++;
    return new Response(null, { status: 503 });
  });
  provider.advance(3541);
  assert.equal(await jobs.token(), "token-1");
  assert.equal(await jobs.token(), "token-1");
  assert.equal(tries, 1);
  provider.advance(5);
  assert.equal(await jobs.token(), "token-1");
  assert.equal(tries, 2);
  provider.advance(54);
  await assert.rejects(jobs.token(), failing("provider_unreachable"));
  answer(() => Response.json({ access_token: "back", token_type: "Bearer", expires_in: 3600 }));
  assert.equal(await jobs.token(), "back");
});

test("a refusal has the provider's error code, and isn't cached", async () => {
  const jobs = source();
  answer(() => Response.json({ error: "invalid_client", error_description: "no" }, { status: 401 }));
  const refusal = { ...failing("provider_refused"), oauthError: "invalid_client" };
  await assert.rejects(Promise.all([jobs.token(), jobs.token()]), refusal);
  answer(() => Response.json({ access_token: "good", token_type: "Bearer" }));
  assert.equal(await jobs.token(), "good");
});

test("an unusable token response is rejected", async () => {
  const answers: unknown[] = [
    {},
    { access_token: "x" },
    { access_token: "", token_type: "Bearer" },
    { access_token: 7, token_type: "Bearer" },
    { access_token: "x", token_type: "DPoP" },
    { access_token: "x", token_type: "mac" },
    [],
    null,
  ];
  for (const body of answers) {
    answer(() => Response.json(body));
    await assert.rejects(source().token(), failing("provider_answer"), JSON.stringify(body));
  }
});

test("a scope that isn't granted is an error here, not later at the API", async () => {
  const granted = (scope: string) =>
    answer(() => Response.json({ access_token: "x", token_type: "Bearer", scope }));
  granted("jobs:read");
  await assert.rejects(source({ oauthScopes: "jobs:run jobs:read" }).token(), failing("insufficient_scope"));
  granted("jobs:read jobs:run more");
  assert.equal(await source({ oauthScopes: "jobs:run jobs:read" }).token(), "x");
});

test("`fetch` sends the token, and retries once with a new one if the API rejects it", async () => {
  const jobs = source();
  const init = { method: "POST", body: "abc", headers: { "x-own": "1" } };
  assert.equal(await (await jobs.fetch("https://api.example/jobs#part", init)).text(), "done");
  assert.deepEqual(apiCalls, [{ authorization: "Bearer token-1", body: "abc" }]);
  const refused = { status: 401, headers: { "www-authenticate": 'Bearer error="invalid_token"' } };
  api = ({ headers: sent }) =>
    sent.get("authorization") === "Bearer token-1" ? new Response(null, refused) : new Response("done");
  assert.equal((await jobs.fetch("https://api.example/jobs", init)).status, 200);
  const sent = apiCalls.slice(1).map(({ authorization, body }) => `${authorization} ${body}`);
  assert.deepEqual(sent, ["Bearer token-1 abc", "Bearer token-2 abc"]);
  api = () => new Response(null, refused);
  assert.equal((await jobs.fetch("https://api.example/jobs")).status, 401);
  assert.equal(apiCalls.length, 5, "once more, not again and again");
  api = () => new Response(null, { status: 401 });
  await jobs.fetch("https://api.example/jobs");
  assert.equal(apiCalls.length, 6, "another 401 is not about the token");
});

test("a token is never sent unencrypted", async () => {
  const jobs = source();
  for (const url of ["http://api.example/", "ftp://api.example/", "https://u:p@api.example/"])
    await assert.rejects(jobs.fetch(url), failing("configuration"), url);
  assert.equal(apiCalls.length, 0);
  assert.equal((await jobs.fetch("http://127.0.0.1:1/")).status, 200);
  const development = source({ environment: "development" });
  assert.equal((await development.fetch("http://api.example/")).status, 200);
});

test("the secret is in the form if the provider doesn't support the header", async () => {
  provider.metadata["token_endpoint_auth_methods_supported"] = ["client_secret_post"];
  await source().token();
  assert.deepEqual(lastForm(), {
    grant_type: "client_credentials",
    client_id: CLIENT_ID,
    client_secret: "a secret:",
  });
  assert.equal(headers.get("authorization"), null);
});

test("private_key_jwt authenticates with a single-use assertion", async () => {
  const { privateKey, publicKey } = await generateKeyPair("ES256", { extractable: true });
  const kid = await calculateJwkThumbprint(await exportJWK(publicKey));
  const jwk = { ...(await exportJWK(privateKey)), kid };
  const seen = new Set<unknown>();
  for (const authentication of [{ privateKey, keyId: kid }, { privateKey: jwk }]) {
    const clientAuthentication = { method: "private_key_jwt", ...authentication } as const;
    await source({}, { clientAuthentication }).token();
    const form = lastForm();
    assert.equal(form["client_assertion_type"], "urn:ietf:params:oauth:client-assertion-type:jwt-bearer");
    const { payload, protectedHeader } = await jwtVerify(form["client_assertion"] ?? "", publicKey, {
      issuer: CLIENT_ID,
      subject: CLIENT_ID,
      audience: ISSUER,
      currentDate: new Date(provider.clock()),
    });
    assert.equal(protectedHeader.kid, kid);
    assert.equal(Number(payload.exp) - Number(payload.iat), 60);
    assert.equal(form["client_secret"], undefined);
    seen.add(payload.jti);
  }
  assert.equal(seen.size, 2);
});

test("tls_client_auth uses the mutual-TLS endpoints", async () => {
  provider.metadata["mtls_endpoint_aliases"] = { token_endpoint: `${ISSUER}/mtls-token` };
  answer(() => Response.json({ access_token: "bound", token_type: "Bearer" }), "/mtls-token");
  const clientAuthentication = { method: "tls_client_auth" } as const;
  assert.equal(await source({}, { clientAuthentication }).token(), "bound");
  assert.deepEqual(lastForm(), { grant_type: "client_credentials", client_id: CLIENT_ID });
  assert.equal(await source({}, { useMtlsEndpoints: true }).token(), "bound");
  assert.match(headers.get("authorization") ?? "", /^Basic /);
  assert.equal(await source().token(), "token-1", "without that, the ordinary one");
});

test("an invalid configuration is rejected at start", () => {
  const without = { issuer: ISSUER, oauthClientId: CLIENT_ID };
  assert.throws(() => clientCredentials(without), failing("configuration"));
  assert.throws(() => clientCredentials({ ...without, oauthClientId: " " }), failing("configuration"));
  assert.throws(
    () => clientCredentials({ issuer: ISSUER, oauthClientSecret: "x" }),
    failing("configuration"),
  );
  assert.throws(() => source({ issuer: "http://id.example" }), failing("configuration"));
  // Not the filter that the rules are taken from: nobody has named one.
  assert.throws(() => clientCredentials({}), {
    code: "configuration",
    message:
      /: A grant needs federationServer, or issuer\. \[SIGNET_FEDERATION_SERVER, SIGNET_ISSUER\] A grant needs oauthOrganisationId/,
  });
});
