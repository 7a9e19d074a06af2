/**
 * The SDK's grants and its filter OAuthUserBearer against the service itself: what the one issues, the other lets in, and
 * nothing else. In one process, over real HTTP and TLS.
 */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, test } from "node:test";
import {
  type ConfigurationProperties,
  clientCredentials,
  deviceGrant,
  type GrantConfiguration,
  type GrantOptions,
  oauthUserBearer,
  refreshingTokens,
  requirePrincipal,
  type TokenSet,
} from "@signet/client-sdk";
import { fastifyPlugin } from "@signet/client-sdk/fastify";
import Fastify, { type FastifyInstance } from "fastify";
import { exportJWK, generateKeyPair } from "jose";
import { type CodeSource, codeSource } from "../../packages/server/src/testing/fakes/code-source.ts";
import {
  type CertificateFixture,
  certificateFixture,
  serviceSettings,
} from "../../packages/server/src/testing/fixtures/certificate-fixture.ts";
import { postForm } from "../../packages/server/src/testing/fixtures/client.ts";
import { decideDeviceCode, makeDeviceApp } from "../../packages/server/src/testing/fixtures/device.ts";
import type { EnrolledDevice } from "../../packages/server/src/testing/fixtures/enrolled-device.ts";
import { selfSigned } from "../../packages/server/src/testing/fixtures/self-signed.ts";
import { type MtlsClient, mtlsClient } from "../../packages/server/src/testing/test-listeners.ts";
import { makeClient, type TestClient } from "../../packages/server/src/testing/test-service.ts";

const AUDIENCE = "https://api.example";

let fixture: CertificateFixture;
let source: CodeSource;
/** The API's own registration: it asks the service about tokens by this name. */
let registered: TestClient;
let worker: TestClient;
const servers: FastifyInstance[] = [];
const clients: MtlsClient[] = [];

before(async () => {
  fixture = await certificateFixture("sqlite::memory:");
  source = codeSource(fixture.org);
  registered = await client({ audience: AUDIENCE });
  worker = await client({
    grantTypes: ["client_credentials"],
    allowedScopes: ["jobs:run"],
    audience: AUDIENCE,
  });
});
after(async () => {
  for (const one of clients) one.close();
  for (const server of servers) await server.close();
  await fixture.close();
  assert.deepEqual(fixture.running.errors, []);
});

type ClientSettings = Parameters<typeof makeClient>[2];
const client = (settings: ClientSettings) =>
  makeClient(fixture.running.service, fixture.org.organisation, settings);

const address = () => ({
  federationServer: fixture.running.baseUrl,
  oauthOrganisationId: fixture.org.organisation.id,
});

interface ApiOptions {
  readonly scopes?: string;
  readonly tls?: boolean;
  readonly more?: ConfigurationProperties;
}

/** An API that tells who has called it. @returns its address */
async function startApi({ scopes = "", tls = false, more = {} }: ApiOptions = {}) {
  const filter = oauthUserBearer(
    {
      filterType: "OAuthUserBearer",
      ...address(),
      applicationId: registered.application.id,
      oauthAudience: AUDIENCE,
      ...(scopes === "" ? {} : { oauthScopes: scopes }),
      ...more,
    },
    { clock: fixture.clock },
  );
  const own = selfSigned();
  const https = { ...own, requestCert: true, rejectUnauthorized: false };
  const app = tls ? (Fastify({ https }) as unknown as FastifyInstance) : Fastify();
  servers.push(app);
  app.register(fastifyPlugin(filter));
  app.get("/", (request) => {
    const { kind, subject, clientId, user, scopes: granted } = requirePrincipal(request);
    return { kind, subject, clientId, organisation: user?.organisationId, scopes: [...granted] };
  });
  return { url: await app.listen({ host: "127.0.0.1", port: 0 }), own };
}

const call = (url: string, token: string) => fetch(url, { headers: { authorization: `Bearer ${token}` } });

async function assertRefused(response: Response, error: string, about: RegExp): Promise<void> {
  assert.equal(response.status, error === "insufficient_scope" ? 403 : 401);
  const body = (await response.json()) as { error: string; error_description: string };
  assert.equal(body.error, error);
  assert.match(body.error_description, about);
  assert.match(response.headers.get("www-authenticate") ?? "", new RegExp(`error="${error}"`));
}

/** What the grants of a client need. */
const grantOf = ({ application, secret }: TestClient, more: GrantConfiguration = {}): GrantConfiguration => ({
  ...address(),
  applicationId: application.id,
  ...(secret === "" ? {} : { oauthClientSecret: secret }),
  ...more,
});
const options = (more: GrantOptions = {}): GrantOptions => ({ clock: fixture.clock, ...more });

test("a user's token gives the API the user, the audience and the scopes", async () => {
  const spa = await client({ redirectUris: ["https://spa.example/callback"], audience: AUDIENCE });
  const { accessToken, idToken } = await source.tokens({}, spa);
  const { url } = await startApi({ scopes: "email" });
  const response = await call(url, accessToken);
  assert.deepEqual(await response.json(), {
    kind: "user",
    subject: fixture.org.user.id,
    clientId: spa.application.id,
    organisation: fixture.org.organisation.id,
    scopes: ["openid", "profile", "email"],
  });
  await assertRefused(await call(url, idToken), "invalid_token", /another type/);
  const { url: strict } = await startApi({ scopes: "email jobs:run" });
  await assertRefused(await call(strict, accessToken), "insufficient_scope", /jobs:run/);
});

test("a user's tokens signed with ML-DSA are accepted as well", async () => {
  const alg = "ML-DSA-65";
  const spa = await client({
    redirectUris: ["https://spa.example/callback"],
    audience: AUDIENCE,
    accessTokenSignedResponseAlg: alg,
    idTokenSignedResponseAlg: alg,
  });
  const { accessToken } = await source.tokens({}, spa);
  const { url } = await startApi({ scopes: "email" });
  const { subject } = (await (await call(url, accessToken)).json()) as { subject: string };
  assert.equal(subject, fixture.org.user.id);
  const changed = accessToken.replace(/.{9}$/, "AAAAAAAAA");
  await assertRefused(await call(url, changed), "invalid_token", /signature is invalid/);
});

test("rejects tokens for another API and of another organisation", async () => {
  const { url } = await startApi();
  const { accessToken } = await source.tokens();
  await assertRefused(await call(url, accessToken), "invalid_token", /audience/);
  const settings = { grantTypes: ["client_credentials"], allowedScopes: ["jobs:run"], audience: AUDIENCE };
  const theirs = await makeClient(
    fixture.running.service,
    fixture.other.organisation,
    settings as ClientSettings,
  );
  const foreign = grantOf(theirs, { oauthOrganisationId: fixture.other.organisation.id });
  const token = await clientCredentials(foreign, options()).token();
  // Their key is not among ours: it is refused before its claims are read.
  await assertRefused(await call(url, token), "invalid_token", /key|issuer/);
});

test("a worker authenticates by secret or key, and renews its token before expiry", async () => {
  const { url } = await startApi({ scopes: "jobs:run" });
  const jobs = clientCredentials(grantOf(worker, { oauthScopes: "jobs:run" }), options());
  const { id } = worker.application;
  const told = { kind: "service", subject: id, clientId: id, scopes: ["jobs:run"] };
  assert.deepEqual(await (await jobs.fetch(url)).json(), told);
  const first = await jobs.token();
  fixture.clock.advance(3_590_000);
  assert.equal((await jobs.fetch(url)).status, 200);
  assert.notEqual(await jobs.token(), first);
  fixture.clock.advance(100_000);
  await assertRefused(await call(url, first), "invalid_token", /expired/);

  const { publicKey, privateKey } = await generateKeyPair("ES256");
  const keyed = await client({
    ...{ grantTypes: ["client_credentials"], allowedScopes: ["jobs:run"], audience: AUDIENCE },
    ...{ tokenEndpointAuthMethod: "private_key_jwt", jwks: { keys: [{ ...(await exportJWK(publicKey)) }] } },
  } as ClientSettings);
  const clientAuthentication = { method: "private_key_jwt", privateKey } as const;
  const byKey = clientCredentials(grantOf({ ...keyed, secret: "" }), options({ clientAuthentication }));
  assert.equal((await byKey.fetch(url)).status, 200);
  await assert.rejects(clientCredentials(grantOf({ ...worker, secret: "sgn_cs_wrong" }), options()).token(), {
    code: "provider_refused",
    oauthError: "invalid_client",
  });
  await assert.rejects(
    clientCredentials(grantOf(worker, { oauthScopes: "jobs:run more" }), options()).token(),
    {
      code: "insufficient_scope",
    },
  );
});

test("an introspecting API rejects a revoked token immediately, and the worker gets a new one", async () => {
  const { id } = registered.application;
  const introspecting = { introspectTokens: true, oauthClientSecret: registered.secret };
  const { url } = await startApi({ more: introspecting });
  const jobs = clientCredentials(grantOf(worker), options());
  assert.equal((await jobs.fetch(url)).status, 200);
  const token = await jobs.token();
  const credentials = { client_id: worker.application.id, client_secret: worker.secret };
  await postForm(`${fixture.org.issuer}/revoke`, { token, ...credentials });
  await assertRefused(await call(url, token), "invalid_token", /not active/);
  assert.equal((await jobs.fetch(url)).status, 200);
  assert.notEqual(await jobs.token(), token);
  // Without the question it would be good until its end.
  assert.equal((await call((await startApi()).url, token)).status, 200);
  const wrongSecret = { ...introspecting, oauthClientSecret: "sgn_cs_wrong" };
  const { url: shut } = await startApi({ more: wrongSecret });
  assert.equal((await call(shut, await jobs.token())).status, 502, `${id} is not known by that secret`);
});

/** A `fetch` that shows the device's certificate to the service's listener for certificates. */
function fetchWith(by: MtlsClient): typeof fetch {
  return async (input, init) => {
    const url = new URL(String(input));
    if (url.origin !== fixture.listeners.mtlsUrl) return fetch(input, init);
    const form = Object.fromEntries(new URLSearchParams(String(init?.body)));
    const { status, body } = await by.post(url.pathname, form);
    return Response.json(body, { status });
  };
}

test("a certificate-bound token works only with its certificate", async () => {
  const { url, own } = await startApi({ tls: true });
  const meters = await fixture.application({
    ...serviceSettings,
    ...{ audience: AUDIENCE, tlsClientCertificateBoundAccessTokens: true },
  });
  const device = await fixture.device();
  const jobs = clientCredentials(
    grantOf(meters),
    options({
      clientAuthentication: { method: "tls_client_auth" },
      fetch: fetchWith(fixture.client(device)),
    }),
  );
  const authorization = `Bearer ${await jobs.token()}`;
  const at = (shown?: EnrolledDevice) => {
    const made = mtlsClient({ mtlsUrl: url, own }, shown);
    clients.push(made);
    return made.get("/", { authorization });
  };
  const good = await at(device);
  assert.equal(good.status, 200, JSON.stringify(good.body));
  assert.equal(good.body["clientId"], meters.application.id);
  for (const shown of [undefined, await fixture.device()]) {
    const { status, body, headers } = await at(shown);
    assert.equal(status, 401);
    assert.equal(body["error"], "invalid_token");
    assert.match(headers.get("www-authenticate") ?? "", /another certificate/);
  }
  const { url: plain } = await startApi();
  assert.equal((await fetch(plain, { headers: { authorization } })).status, 401);
});

test("a command line signs a user in by the device grant, calls the API and refreshes", async () => {
  const application = await makeDeviceApp(fixture.running.service, fixture.org, { audience: AUDIENCE });
  const configuration = grantOf({ application, secret: "" }, { oauthScopes: "openid email" });
  let userCode = "";
  let polls = 0;
  const wait = async (milliseconds: number) => {
    polls++;
    // The second one comes too early for the service, which then wants to be asked less often.
    fixture.clock.advance(polls === 2 ? 0 : milliseconds);
    if (polls === 3) await decideDeviceCode(source.browser, fixture.org, { userCode });
  };
  const tokens = await deviceGrant(configuration, {
    clock: fixture.clock,
    wait,
    onPrompt: (prompt) => {
      assert.equal(prompt.verificationUri, `${fixture.org.issuer}/device/verify`);
      userCode = prompt.userCode;
    },
  });
  assert.equal(tokens.claims?.sub, fixture.org.user.id);
  assert.equal(polls, 3);
  const kept: TokenSet[] = [];
  const onRefreshed = (set: TokenSet) => void kept.push(set);
  const api = refreshingTokens(configuration, tokens, { clock: fixture.clock, onRefreshed });
  const { url } = await startApi({ scopes: "email" });
  const told = (await (await api.fetch(url)).json()) as { subject: string };
  assert.equal(told.subject, fixture.org.user.id);
  fixture.clock.advance(3_600_000);
  assert.equal((await api.fetch(url)).status, 200);
  fixture.clock.advance(3_600_000);
  assert.equal((await api.fetch(url)).status, 200);
  assert.equal(kept.length, 2);
});

test("the device grant reports denial, expiry and an unknown client", async () => {
  const application = await makeDeviceApp(fixture.running.service, fixture.org);
  let userCode = "";
  const signIn = (wait: () => Promise<void>, by = application) =>
    deviceGrant(grantOf({ application: by, secret: "" }, { oauthScopes: "openid" }), {
      ...{ clock: fixture.clock, wait },
      onPrompt: (prompt) => {
        userCode = prompt.userCode;
      },
    });
  const refused = (oauthError: string) => ({ code: "provider_refused", oauthError });
  const deny = async () => void (await decideDeviceCode(source.browser, fixture.org, { userCode }, "deny"));
  await assert.rejects(signIn(deny), refused("access_denied"));
  const late = async () => fixture.clock.advance(900_000);
  await assert.rejects(signIn(late), refused("expired_token"));
  await assert.rejects(signIn(late, { ...application, id: randomUUID() }), refused("invalid_client"));
});
