/** `openid-client` and `oauth4webapi` with authorization details (RFC 9396) and encrypted ID tokens (OpenID Connect Core §10.2). */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { compactDecrypt, exportJWK, generateKeyPair } from "jose";
import * as oauth from "oauth4webapi";
import * as oidc from "openid-client";
import { forJourneyDatabases } from "../../packages/server/src/testing/databases.ts";
import { authorize, testBrowser } from "../../packages/server/src/testing/fakes/browser.ts";
import { makeDetailType, payment } from "../../packages/server/src/testing/fixtures/detail-types.ts";
import {
  makeClient,
  makeOrganisation,
  REDIRECT_URI,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../packages/server/src/testing/test-service.ts";

forJourneyDatabases(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  before(async () => {
    running = await startTestService({ databaseUrl: await fresh() });
    org = await makeOrganisation(running.service);
    await makeDetailType(running.service, org.organisation.id, "payment");
  });
  after(async () => {
    await running.close();
    assert.deepEqual(running.errors, []);
  });

  for (const alg of ["RSA-OAEP-256", "ECDH-ES"] as const) {
    /** A client that asks for payments, and whose ID tokens only it can read. */
    async function encryptingClient() {
      const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true });
      const jwk = { ...(await exportJWK(publicKey)), use: "enc", kid: crypto.randomUUID() };
      const client = await makeClient(running.service, org.organisation, {
        ...{ redirectUris: [REDIRECT_URI], requireConsent: false, authorizationDetailsTypes: ["payment"] },
        ...{ idTokenEncryptedResponseAlg: alg, jwks: { keys: [jwk] } as never },
      });
      return { ...client, privateKey, kid: jwk.kid };
    }
    const authorization_details = JSON.stringify([payment]);
    const visit = (query: string) => authorize(testBrowser(), { issuer: org.issuer, query, ...org.user });

    test(`openid-client, ${alg}`, async () => {
      const { application, secret, privateKey, kid } = await encryptingClient();
      const config = await oidc.discovery(new URL(org.issuer), application.id, secret, undefined, {
        execute: [oidc.allowInsecureRequests],
      });
      oidc.enableDecryptingResponses(config, ["A256GCM"], { key: privateKey, alg, kid });
      const pkceCodeVerifier = oidc.randomPKCECodeVerifier();
      const expectedState = oidc.randomState();
      const url = oidc.buildAuthorizationUrl(config, {
        ...{ redirect_uri: REDIRECT_URI, scope: "openid", state: expectedState, authorization_details },
        code_challenge: await oidc.calculatePKCECodeChallenge(pkceCodeVerifier),
        code_challenge_method: "S256",
      });
      const answer = await visit(url.searchParams.toString());
      const tokens = await oidc.authorizationCodeGrant(config, new URL(`${REDIRECT_URI}?${answer}`), {
        ...{ pkceCodeVerifier, expectedState, idTokenExpected: true },
      });
      assert.equal(tokens.claims()?.sub, org.user.id);
      assert.equal(tokens.id_token?.split(".").length, 5, "it was encrypted");
      assert.deepEqual(tokens.authorization_details, [payment]);
      const described = await oidc.tokenIntrospection(config, tokens.access_token);
      assert.deepEqual(described.authorization_details, [payment]);
    });

    test(`oauth4webapi, ${alg}`, async () => {
      const { application, secret, privateKey } = await encryptingClient();
      const insecure = { [oauth.allowInsecureRequests]: true };
      const issuer = new URL(org.issuer);
      const found = await oauth.discoveryRequest(issuer, insecure);
      const provider = await oauth.processDiscoveryResponse(issuer, found);
      const client: oauth.Client = { client_id: application.id };
      const by = oauth.ClientSecretPost(secret);
      const [verifier, state] = [oauth.generateRandomCodeVerifier(), oauth.generateRandomState()];
      const query = new URLSearchParams({
        ...{ response_type: "code", client_id: application.id, redirect_uri: REDIRECT_URI },
        ...{ scope: "openid", state, authorization_details, code_challenge_method: "S256" },
        code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
      });
      const redirected = new URL(`${REDIRECT_URI}?${await visit(query.toString())}`);
      const answer = oauth.validateAuthResponse(provider, client, redirected, state);
      const response = await oauth.authorizationCodeGrantRequest(
        ...([provider, client, by, answer, REDIRECT_URI, verifier, insecure] as const),
      );
      const tokens = await oauth.processAuthorizationCodeResponse(provider, client, response, {
        requireIdToken: true,
        [oauth.jweDecrypt]: async (jwe) =>
          new TextDecoder().decode((await compactDecrypt(jwe, privateKey)).plaintext),
      });
      assert.equal(oauth.getValidatedIdTokenClaims(tokens)?.sub, org.user.id);
      assert.deepEqual(tokens.authorization_details, [payment]);
    });
  }
});
