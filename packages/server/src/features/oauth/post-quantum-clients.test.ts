/** ML-DSA is for tokens, never for what clients sign (modern-oauth.md §7): a key for it is refused wherever a client brings one. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, test } from "node:test";
import { mlDsaAlgs } from "@signet/protocol/jose/ml-dsa";
import { exportJWK, type JWK } from "jose";
import type { ApplicationSettings } from "../../core/applications/application.ts";
import { seconds } from "../../core/clock.ts";
import { forEachDatabase } from "../../testing/databases.ts";
import { authorizationRequest } from "../../testing/fakes/browser.ts";
import { type FakeClock, fakeClock } from "../../testing/fakes/fake-clock.ts";
import { makeApiClient } from "../../testing/fixtures/api-client.ts";
import { credentials, postForm } from "../../testing/fixtures/client.ts";
import { dpopKey } from "../../testing/fixtures/dpop.ts";
import { registration } from "../../testing/fixtures/registration.ts";
import { type RequestKey, requestKey, signClaims } from "../../testing/fixtures/request-object.ts";
import { assertOAuthError } from "../../testing/probes/answers.ts";
import {
  makeClient,
  makeOrganisation,
  REDIRECT_URI,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../testing/test-service.ts";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  let clock: FakeClock;
  /** What the clients publish. */
  let published: JWK[] = [];
  const server: Server = createServer((_request, response) => {
    response.end(JSON.stringify({ keys: published }));
  });
  before(async () => {
    clock = fakeClock(Date.now());
    const env = { SIGNET_OUTBOUND_ALLOW: "localhost" };
    running = await startTestService({ databaseUrl: await fresh(), clock, env });
    org = await makeOrganisation(running.service);
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
  });
  after(async () => {
    server.close();
    server.closeAllConnections();
    await running.close();
    assert.deepEqual(running.errors, []);
  });

  /** Its keys are those published: one for ES256 that it may use, and the one for ML-DSA. */
  const publisher = async (key: RequestKey, settings: Partial<ApplicationSettings> = {}) => {
    const classical = await requestKey();
    published = [key.jwk, classical.jwk];
    const { port } = server.address() as AddressInfo;
    const jwksUri = `http://localhost:${port}/${randomUUID()}`;
    const client = await makeClient(running.service, org.organisation, { jwksUri, ...settings });
    return { client, classical };
  };

  for (const alg of mlDsaAlgs) {
    test(`${alg}: no client assertion, request object or proof is accepted`, async () => {
      const key = await requestKey(alg);
      const now = seconds(clock());
      const machine = await publisher(key, {
        grantTypes: ["client_credentials"],
        allowedScopes: [],
        tokenEndpointAuthMethod: "private_key_jwt",
      });
      const { id } = machine.client.application;
      const assertion = async (by: RequestKey) => {
        const claims = { iss: id, sub: id, aud: org.issuer, jti: randomUUID(), iat: now, exp: now + 60 };
        return postForm(`${org.issuer}/token`, {
          grant_type: "client_credentials",
          client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
          client_assertion: await signClaims(by, claims),
        });
      };
      assertOAuthError(await assertion(key), 401, "invalid_client", "assertion");
      assert.equal((await assertion(machine.classical)).status, 200, "with its other key");

      const web = await publisher(key, { redirectUris: [REDIRECT_URI] });
      const pushed = async (by: RequestKey) => {
        const client_id = web.client.application.id;
        const { parameters } = authorizationRequest(client_id, REDIRECT_URI);
        const claims = { ...parameters, iss: client_id, aud: org.issuer, iat: now, exp: now + 60 };
        const request = await signClaims(by, claims);
        return postForm(`${org.issuer}/par`, { request, ...credentials(web.client) });
      };
      assertOAuthError(await pushed(key), 400, "invalid_request_object", "request object");
      assert.equal((await pushed(web.classical)).status, 201, "with its other key");

      const url = `${org.issuer}/token`;
      const form = { grant_type: "client_credentials", ...credentials(org.batch) };
      const dpop = await (await dpopKey(alg)).proof({ url, now: clock() });
      assertOAuthError(await postForm(url, form, { dpop }), 400, "invalid_dpop_proof", "proof");
    });

    test(`${alg}: no key is registered, nor chosen for what is not a token`, async () => {
      const { jwk, privateKey } = await requestKey(alg);
      const made = (settings: object) =>
        makeClient(running.service, org.organisation, settings as Partial<ApplicationSettings>);
      await assert.rejects(
        made({ jwks: { keys: [jwk] } }),
        /jwks\.keys\[0\]: must be an RSA, P-256 or Ed25519/,
      );
      const secret = { ...(await exportJWK(privateKey)), kid: "k" };
      await assert.rejects(made({ jwks: { keys: [secret] } }), /private key you sent is compromised/);
      for (const name of [
        "requestObjectSigningAlg",
        "authorizationSignedResponseAlg",
        "introspectionSignedResponseAlg",
        "userinfoSignedResponseAlg",
      ])
        await assert.rejects(made({ [name]: alg }), new RegExp(name), name);

      const api = await makeApiClient(running.service, org, ["signet:applications:write"]);
      const allowed = { allowedScopes: [], grantTypes: ["client_credentials"] };
      const { body } = await api.call("POST", "/initial-access-tokens", { body: allowed });
      const metadata = {
        client_name: "Program",
        grant_types: ["client_credentials"],
        token_endpoint_auth_method: "private_key_jwt",
        jwks: { keys: [jwk] },
      };
      const registered = await registration(
        "POST",
        `${org.issuer}/register`,
        String(body["token"]),
        metadata,
      );
      assertOAuthError(registered, 400, "invalid_client_metadata", "registration");
    });
  }
});
