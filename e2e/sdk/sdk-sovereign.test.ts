/**
 * The SDK's sovereign trust against the real service: a pool, an agent that signs, and what a service that lies could publish
 * (sovereign-signing.md §8).
 */
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import {
  type ConfigurationProperties,
  type OAuthUserBearerConfiguration,
  oauthUserBearer,
  SignetError,
} from "@signet/client-sdk";
import {
  type TestCertificate,
  type TestCertificateInput,
  testCertificate,
} from "@signet/protocol/testing/test-certificate";
import {
  type SigningPool,
  signingPoolUrl,
} from "../../packages/server/src/core/signing-pools/signing-pool.ts";
import type { NewPool } from "../../packages/server/src/features/sovereign/admin-api/pools.ts";
import {
  makeAgent,
  makePool,
  newAgentKey,
  signedWith,
  type TestAgent,
  type TestAgentKey,
} from "../../packages/server/src/testing/fixtures/agent.ts";
import {
  makeClient,
  makeOrganisation,
  startTestService,
  type TestClient,
  type TestOrganisation,
  type TestService,
} from "../../packages/server/src/testing/test-service.ts";

interface PoolFixture {
  readonly org: TestOrganisation;
  readonly pool: SigningPool;
  readonly issuer: string;
  readonly agent: TestAgent;
  readonly key: TestAgentKey;
  /** Whose tokens the pool signs. */
  readonly client: TestClient;
  readonly token: string;
}

const root = testCertificate({ subject: "Root", isCa: true });
const rogueRoot = testCertificate({ subject: "Root", isCa: true });
const certify = (
  key: TestAgentKey,
  uri: string,
  more: Partial<TestCertificateInput> & { issuer?: TestCertificate } = {},
) =>
  testCertificate({ subject: "Agent", issuer: root, privateKey: key.privateKey, uris: [uri], ...more }).x5c;

let folder: string;
let server: TestService;
let ours: PoolFixture;
let theirs: PoolFixture;
before(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), "signet-sdk-sovereign-"));
  server = await startTestService({ databaseUrl: `sqlite:${path.join(folder, "signet.db")}` });
  ours = await openPool("Acme");
  theirs = await openPool("Other");
});
after(async () => {
  await server.close();
  await rm(folder, { recursive: true, force: true });
  assert.deepEqual(server.errors, []);
});

/** An organisation with a pool, an agent with certificates in it, and a token that the agent has signed. */
async function openPool(name: string, more: Partial<NewPool> = {}): Promise<PoolFixture> {
  const { service, baseUrl } = server;
  const org = await makeOrganisation(service, name);
  const pool = await makePool(service, org, {
    trustedRoots: [root.pem],
    requireX5c: true,
    tokenWaitSeconds: 20,
    ...more,
  });
  const issuer = signingPoolUrl(baseUrl, pool);
  const agent = await makeAgent(service, org, pool, { certify: (one) => [certify(one, issuer)] });
  const [key] = agent.keys;
  assert.ok(key);
  const client = await makeClient(service, org.organisation, {
    grantTypes: ["client_credentials"],
    allowedScopes: ["jobs:run"],
    signingPoolId: pool.id,
  });
  const { stop } = agent.serve();
  // Nothing is queued for a pool whose agents were never seen.
  await agent.call("queue?wait=0");
  const token = await tokenOf(org, client);
  await stop();
  return { org, pool, issuer, agent, key, client, token };
}

async function tokenOf({ issuer }: TestOrganisation, { application, secret }: TestClient): Promise<string> {
  const response = await fetch(`${issuer}/token`, {
    method: "POST",
    body: new URLSearchParams({
      grant_type: "client_credentials",
      client_id: application.id,
      client_secret: secret,
    }),
  });
  const body = (await response.json()) as { access_token?: string };
  assert.ok(body.access_token, JSON.stringify(body));
  return body.access_token;
}

async function documentAt(url: string): Promise<{ jwks_uri: string; keys: object[] }> {
  const response = await fetch(url);
  assert.equal(response.status, 200, url);
  return (await response.json()) as { jwks_uri: string; keys: object[] };
}

type Pins = ConfigurationProperties;

function configurationOf(pins: Pins): OAuthUserBearerConfiguration {
  return {
    federationServer: server.baseUrl,
    oauthOrganisationId: ours.org.organisation.id,
    applicationId: ours.client.application.id,
    filterType: "OAuthUserBearer",
    oauthAudience: ours.issuer,
    sovereignSigningPoolId: ours.pool.id,
    ...pins,
  };
}

/** The four modes, as an application's configuration has them. */
const modes = (): ReadonlyArray<readonly [name: string, pins: Pins]> => [
  ["a pool alone", { environment: "development" }],
  ["trusted roots", { sovereignTrustedRootCertificates: [root.pem] }],
  ["thumbprints", { sovereignKeyThumbprints: [ours.key.kid] }],
  ["public keys", { sovereignPublicKeys: [ours.key.publicJwk] }],
];

interface Outcome {
  readonly subject?: string;
  readonly code?: string;
  readonly cause?: string;
  readonly status?: number;
}

/** What an API with this configuration makes of a token. @param keys what the service is made to publish for the pool */
async function outcome(
  pins: Pins,
  token: string,
  keys?: readonly object[],
): Promise<Outcome & { fetched: string[] }> {
  const fetched: string[] = [];
  const filter = oauthUserBearer(configurationOf(pins), {
    fetch: async (input, init) => {
      fetched.push(String(input));
      return keys && String(input).endsWith("/jwks.json") ? Response.json({ keys }) : fetch(input, init);
    },
  });
  const headers = { authorization: `Bearer ${token}` };
  const result = await filter.authenticate(new Request("https://api.example/jobs", { headers }));
  if (result.kind === "authenticated") return { subject: result.principal.subject, fetched };
  assert.ok(result.kind === "answer");
  const { error, response } = result;
  assert.ok(error instanceof SignetError);
  const cause = error.cause instanceof Error ? { cause: error.cause.message } : {};
  return { code: error.code, status: response.status, ...cause, fetched };
}

test("all four modes accept the agent's signature, also with a required key ID; public keys fetch nothing", async () => {
  for (const [name, pins] of modes())
    for (const required of [{}, { sovereignRequiredKeyId: ours.key.kid }]) {
      const { subject, code, fetched } = await outcome({ ...pins, ...required }, ours.token);
      assert.equal(subject, ours.client.application.id, `${name}: ${code}`);
      assert.deepEqual(fetched, name === "public keys" ? [] : [`${ours.issuer}/jwks.json`]);
    }
});

test("accepts tokens of a pool with the organisation's issuer, and rejects the service's own", async () => {
  const fixture = await openPool("Organisation's", { issuerMode: "organisation" });
  const { org, pool, client, token } = fixture;
  const theirPins = {
    oauthOrganisationId: org.organisation.id,
    applicationId: client.application.id,
    oauthAudience: org.issuer,
    sovereignSigningPoolId: pool.id,
  };
  const own = await tokenOf(org, org.batch);
  for (const pins of [
    { environment: "development" } as const,
    { sovereignTrustedRootCertificates: [root.pem] },
    { sovereignKeyThumbprints: [fixture.key.kid] },
    { sovereignPublicKeys: [fixture.key.publicJwk] },
  ]) {
    const said = { ...theirPins, ...pins, sovereignIssuerMode: "organisation" } as const;
    assert.equal((await outcome(said, token)).subject, client.application.id);
    assert.equal((await outcome(said, own)).code, "token_key_unknown");
    assert.equal((await outcome({ ...theirPins, ...pins }, token)).code, "token_issuer");
  }
});

test("a pool without pinned keys starts in production only when forced", async () => {
  assert.throws(() => oauthUserBearer(configurationOf({})), { code: "configuration" });
  const { subject } = await outcome({ sovereignAllowUnpinned: true }, ours.token);
  assert.equal(subject, ours.client.application.id);
});

test("every mode rejects a token signed with the organisation's key", async () => {
  const own = await tokenOf(ours.org, ours.org.batch);
  for (const [name, pins] of modes()) {
    const { code, status, fetched } = await outcome(pins, own);
    assert.deepEqual([code, status], ["token_key_unknown", 401], name);
    // No way leads to the organisation's keys.
    assert.deepEqual(fetched, name === "public keys" ? [] : [`${ours.issuer}/jwks.json`]);
  }
  // The service puts its own keys where the pool's should be.
  const metadata = await documentAt(`${ours.org.issuer}/.well-known/openid-configuration`);
  const { keys } = await documentAt(metadata.jwks_uri);
  for (const [name, pins] of modes().slice(1)) {
    const { code } = await outcome(pins, own, keys);
    assert.equal(code, name === "public keys" ? "token_key_unknown" : "token_key_untrusted", name);
  }
});

test("pinned modes reject a swapped key, under the agent's kid or its own", async () => {
  const rogue = newAgentKey("ES256");
  const [header = "", payload = ""] = ours.token.split(".");
  const underAgentsName = signedWith(rogue, `${header}.${payload}`);
  const sameName = [
    { ...rogue.publicJwk, kid: ours.key.kid, use: "sig", x5c: [certify(ours.key, ours.issuer)] },
  ];
  const rogueHeader = JSON.parse(Buffer.from(header, "base64url").toString()) as object;
  const renamed = Buffer.from(JSON.stringify({ ...rogueHeader, kid: rogue.kid })).toString("base64url");
  const underOwnName = signedWith(rogue, `${renamed}.${payload}`);
  const ownName = [{ ...rogue.publicJwk, kid: rogue.kid, use: "sig" }];
  const codes = async (pins: Pins) => [
    (await outcome(pins, underAgentsName, sameName)).code,
    (await outcome(pins, underOwnName, ownName)).code,
    (await outcome(pins, underAgentsName)).code,
  ];
  const [unpinned, roots, thumbprints, publicKeys] = await Promise.all(
    modes().map(([, pins]) => codes(pins)),
  );
  // What a pool alone does not stop, and is not for production for.
  assert.deepEqual(unpinned, [undefined, undefined, "token_signature"]);
  assert.deepEqual(roots, ["token_key_untrusted", "token_key_untrusted", "token_signature"]);
  assert.deepEqual(thumbprints, ["token_key_untrusted", "token_key_untrusted", "token_signature"]);
  assert.deepEqual(publicKeys, ["token_signature", "token_key_unknown", "token_signature"]);
});

test("rejects a token of another organisation's pool, even with its keys in our key set", async () => {
  for (const [name, pins] of modes())
    assert.equal((await outcome(pins, theirs.token)).code, "token_key_unknown", name);
  const { keys } = await documentAt(`${theirs.issuer}/jwks.json`);
  const [unpinned, roots, thumbprints] = modes().map(([, pins]) => outcome(pins, theirs.token, keys));
  // Its key is believed there, and the token still names its own issuer.
  assert.equal((await unpinned)?.code, "token_issuer");
  const named = await roots;
  assert.equal(named?.code, "token_key_untrusted");
  assert.match(named?.cause ?? "", /lack the URI of the pool/);
  assert.equal((await thumbprints)?.code, "token_key_untrusted");
});

test("every mode rejects a key ID other than the required one", async () => {
  for (const [name, pins] of modes()) {
    const { code } = await outcome({ ...pins, sovereignRequiredKeyId: theirs.key.kid }, ours.token);
    assert.equal(code, "token_key_untrusted", name);
  }
});

test("certificates: rejects a key without the pool's URL, expired, of a rogue root or of another key", async () => {
  const pins = { sovereignTrustedRootCertificates: [root.pem] };
  const past = { validFrom: new Date(Date.now() - 7_200_000), validTo: new Date(Date.now() - 3_600_000) };
  const bad: ReadonlyArray<readonly [fault: RegExp, x5c: string[]]> = [
    [/lack the URI of the pool/, [certify(ours.key, ours.org.issuer)]],
    [/has expired/, [certify(ours.key, ours.issuer, past)]],
    [/trusted root/, [certify(ours.key, ours.issuer, { issuer: rogueRoot }), rogueRoot.x5c]],
    [/another key/, [certify(theirs.key, ours.issuer)]],
  ];
  for (const [fault, x5c] of bad) {
    const { code, cause } = await outcome(pins, ours.token, [
      { ...ours.key.publicJwk, kid: ours.key.kid, x5c },
    ]);
    assert.equal(code, "token_key_untrusted");
    assert.match(cause ?? "", fault);
    // The service, with the same checks, would not have published it.
    const certifyBadly = () => x5c;
    await assert.rejects(makeAgent(server.service, ours.org, ours.pool, { certify: certifyBadly }), {
      code: "chain_invalid",
    });
  }
  assert.equal(
    (await outcome({ sovereignTrustedRootCertificates: [rogueRoot.pem] }, ours.token)).code,
    "token_key_untrusted",
  );
});
