/** OpenID conformance: registration of keys. All behaviours: docs/openid-behaviours.md. */
import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { type CryptoKey, errors, exportJWK, generateKeyPair, type JWK, SignJWT } from "jose";
import { MAX_TOKEN_LIFETIME_MS, PUBLISH_AHEAD_MS } from "../core/signing-keys/signing-key.ts";
import { forEachProvider, verifiedIdToken } from "../testing/fakes/provider.ts";
import { postForm } from "../testing/fixtures/client.ts";
import { headerOf } from "../testing/probes/answers.ts";
import { makeClient, REDIRECT_URI, type TestClient } from "../testing/test-service.ts";

const allowed = { SIGNET_OUTBOUND_ALLOW: "127.0.0.1" };

forEachProvider((provider) => {
  test("rotation publishes the old key until the last token that it signed has expired", async () => {
    const { running, org, source, clock } = provider();
    const lifetime = 86_400;
    const client = await makeClient(running.service, org.organisation, {
      redirectUris: [REDIRECT_URI],
      accessTokenLifetimeSeconds: lifetime,
    });
    const issue = async () => (await source.tokens({}, client)).idToken;
    const old = String(headerOf(await issue())["kid"]);
    await running.service.keys.rotate(org.organisation.id, "ES256", { actor: "test", compromised: false });
    clock.advance(PUBLISH_AHEAD_MS - 1);
    const last = await issue();
    clock.advance(1);
    const next = await issue();
    assert.equal(headerOf(last)["kid"], old);
    assert.notEqual(headerOf(next)["kid"], old);
    for (const idToken of [last, next]) await verifiedIdToken(provider(), idToken, client);
    // The second in which it was issued, before or after the whole one, counts as past.
    clock.advance((lifetime - 2) * 1_000);
    await verifiedIdToken(provider(), last, client);
    clock.advance(MAX_TOKEN_LIFETIME_MS - (lifetime - 2) * 1_000);
    await assert.rejects(verifiedIdToken(provider(), last, client), errors.JWKSNoMatchingKey);
  });

  test("fetches a client's jwks_uri again for an unknown kid, at most once a minute", async (t) => {
    const keys: JWK[] = [];
    let reads = 0;
    const server = createServer((_request, response) => {
      reads++;
      response.end(JSON.stringify({ keys }));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    t.after(() => new Promise((resolve) => server.close(resolve)));
    const { port } = server.address() as AddressInfo;
    const newKey = async (kid: string): Promise<CryptoKey> => {
      const { privateKey, publicKey } = await generateKeyPair("ES256");
      keys.push({ ...(await exportJWK(publicKey)), kid });
      return privateKey;
    };
    const { running, org, clock } = provider();
    const client = await makeClient(running.service, org.organisation, {
      grantTypes: ["client_credentials"],
      allowedScopes: ["jobs:run"],
      tokenEndpointAuthMethod: "private_key_jwt",
      jwksUri: `http://127.0.0.1:${port}/jwks`,
    });
    const status = (key: CryptoKey, kid: string) => statusOf(client, key, kid);
    const first = await newKey("first");
    for (let time = 0; time < 3; time++) assert.equal(await status(first, "first"), 200);
    assert.equal(reads, 1);
    const second = await newKey("second");
    for (let time = 0; time < 3; time++) assert.equal(await status(second, "second"), 401);
    assert.equal(reads, 1, "within the minute");
    clock.advance(60_000);
    assert.equal(await status(second, "second"), 200);
    for (let time = 0; time < 3; time++) assert.equal(await status(second, "nonsense"), 401);
    assert.equal(reads, 2);
  });

  /** A service's token, asked for with an assertion. */
  async function statusOf({ application }: TestClient, key: CryptoKey, kid: string): Promise<number> {
    const { org, clock } = provider();
    const now = Math.floor(clock() / 1000);
    const assertion = await new SignJWT({ jti: crypto.randomUUID() })
      .setProtectedHeader({ alg: "ES256", kid })
      .setIssuer(application.id)
      .setSubject(application.id)
      .setAudience(org.issuer)
      .setIssuedAt(now)
      .setExpirationTime(now + 60)
      .sign(key);
    const answer = await postForm(`${org.issuer}/token`, {
      grant_type: "client_credentials",
      client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
      client_assertion: assertion,
    });
    return answer.status;
  }
}, allowed);
