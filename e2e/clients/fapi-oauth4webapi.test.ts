/** `oauth4webapi` through FAPI 2.0 and mutual TLS: each step as the library has it, with its own checks of every answer. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { testCertificate } from "@signet/protocol/testing/test-certificate";
import * as oauth from "oauth4webapi";
import { createClientAuthority } from "../../packages/server/src/core/client-authorities/client-authorities.ts";
import { forJourneyDatabases } from "../../packages/server/src/testing/databases.ts";
import { authorize, testBrowser } from "../../packages/server/src/testing/fakes/browser.ts";
import {
  type CertificateFixture,
  certificateFixture,
} from "../../packages/server/src/testing/fixtures/certificate-fixture.ts";
import { requestKey } from "../../packages/server/src/testing/fixtures/request-object.ts";
import { makeClient, REDIRECT_URI } from "../../packages/server/src/testing/test-service.ts";

const insecure = { [oauth.allowInsecureRequests]: true };

forJourneyDatabases(({ fresh }) => {
  let fixture: CertificateFixture;
  let provider: oauth.AuthorizationServer;
  before(async () => {
    fixture = await certificateFixture(await fresh());
    const issuer = new URL(fixture.org.issuer);
    provider = await oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer, insecure));
  });
  after(async () => {
    await fixture.close();
    assert.deepEqual(fixture.running.errors, []);
  });

  /** The first answer has the nonce that the second request takes (RFC 9449 §8). */
  async function withNonce<T>(
    send: () => Promise<Response>,
    read: (answer: Response) => Promise<T>,
  ): Promise<T> {
    try {
      return await read(await send());
    } catch (error) {
      if (!oauth.isDPoPNonceError(error)) throw error;
      return read(await send());
    }
  }

  /** FAPI 2.0 SP §5.3.2.1: the issuer as a string is the only audience. */
  const assertionOf = ({ privateKey, kid }: { privateKey: CryptoKey; kid: string }) =>
    oauth.PrivateKeyJwt(
      { key: privateKey, kid },
      {
        [oauth.modifyAssertion]: (_header, payload) => {
          payload["aud"] = provider.issuer;
        },
      },
    );

  test("pushed signed request, signed response, DPoP with nonces, refresh, signed introspection", async () => {
    const { org, running } = fixture;
    const key = await requestKey();
    const { application } = await makeClient(running.service, org.organisation, {
      ...{ redirectUris: [REDIRECT_URI], requireConsent: false, jwks: { keys: [{ ...key.jwk }] } },
      ...{ tokenEndpointAuthMethod: "private_key_jwt", securityProfile: "fapi2-message-signing" },
      ...{ dpopBoundAccessTokens: true, requireDpopNonce: true, userinfoSignedResponseAlg: "ES256" },
    });
    const client: oauth.Client = {
      ...{ client_id: application.id, userinfo_signed_response_alg: "ES256" },
      introspection_signed_response_alg: "ES256",
    };
    const proof = oauth.DPoP(client, await oauth.generateKeyPair("ES256"));
    const options = { ...insecure, DPoP: proof };
    const by = assertionOf(key);
    const [verifier, state] = [oauth.generateRandomCodeVerifier(), oauth.generateRandomState()];
    const parameters = {
      ...{ response_type: "code", redirect_uri: REDIRECT_URI, scope: "openid email", state },
      ...{ code_challenge_method: "S256" },
      code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    };
    const request = await oauth.issueRequestObject(provider, client, parameters, {
      ...{ key: key.privateKey, kid: key.kid },
    });
    const pushed = await withNonce(
      () => oauth.pushedAuthorizationRequest(provider, client, by, { request }, options),
      (answer) => oauth.processPushedAuthorizationResponse(provider, client, answer),
    );
    const asked = { client_id: client.client_id, request_uri: pushed.request_uri };
    const query = new URLSearchParams(asked).toString();
    const redirected = await authorize(testBrowser(), { issuer: org.issuer, query, ...org.user });
    const answer = await oauth.validateJwtAuthResponse(
      ...([provider, client, new URL(`${REDIRECT_URI}?${redirected}`), state, insecure] as const),
    );
    const tokens = await withNonce(
      () =>
        oauth.authorizationCodeGrantRequest(
          ...([provider, client, by, answer, REDIRECT_URI, verifier, options] as const),
        ),
      (response) =>
        oauth.processAuthorizationCodeResponse(provider, client, response, { requireIdToken: true }),
    );
    assert.equal(tokens.token_type, "dpop");
    const sub = String(oauth.getValidatedIdTokenClaims(tokens)?.sub);
    const userinfo = await withNonce(
      () => oauth.userInfoRequest(provider, client, tokens.access_token, options),
      async (response) => {
        const claims = await oauth.processUserInfoResponse(provider, client, sub, response);
        await oauth.validateApplicationLevelSignature(provider, response, insecure);
        return claims;
      },
    );
    assert.equal(userinfo.email, org.user.email);
    const introspected = await oauth.introspectionRequest(
      provider,
      client,
      by,
      tokens.access_token,
      insecure,
    );
    const active = await oauth.processIntrospectionResponse(provider, client, introspected);
    await oauth.validateApplicationLevelSignature(provider, introspected, insecure);
    assert.deepEqual([active.active, active.cnf?.jkt], [true, await proof.calculateThumbprint()]);
    const next = await withNonce(
      () => oauth.refreshTokenGrantRequest(provider, client, by, String(tokens.refresh_token), options),
      (response) => oauth.processRefreshTokenResponse(provider, client, response),
    );
    assert.equal(next.refresh_token, tokens.refresh_token, "not rotated (SP §5.3.2.1)");
  });

  test("API v1 with a token of its key, which is refused without it", async () => {
    const { org, running } = fixture;
    const { application, secret } = await makeClient(running.service, org.organisation, {
      ...{ grantTypes: ["client_credentials"], allowedScopes: ["signet:applications:read"] },
      dpopBoundAccessTokens: true,
    });
    const client: oauth.Client = { client_id: application.id };
    const options = { ...insecure, DPoP: oauth.DPoP(client, await oauth.generateKeyPair("ES256")) };
    const by = oauth.ClientSecretPost(secret);
    const granted = await oauth.clientCredentialsGrantRequest(provider, client, by, {}, options);
    const tokens = await oauth.processClientCredentialsResponse(provider, client, granted);
    const url = new URL(`${running.baseUrl}/api/v1/organisations/${org.organisation.id}/scopes`);
    const call = (more: oauth.ProtectedResourceRequestOptions) =>
      oauth.protectedResourceRequest(tokens.access_token, "GET", url, undefined, undefined, more);
    assert.equal((await call(options)).status, 200);
    await assert.rejects(call(insecure), (error) => {
      assert.ok(error instanceof oauth.WWWAuthenticateChallengeError);
      assert.deepEqual(
        error.cause.map(({ scheme, parameters }) => [scheme, parameters.error]),
        [["dpop", "invalid_token"]],
      );
      return true;
    });
  });

  test("mutual TLS at the aliases: tls_client_auth by an authority's certificate, and a bound token", async () => {
    const { org, running, listeners } = fixture;
    const authority = testCertificate({ subject: "Partner", isCa: true });
    const settings = { name: "Partner", certificate: authority.pem, enabled: true };
    await createClientAuthority(running.service, { orgId: org.organisation.id, actor: "test", settings });
    const { application } = await fixture.application({
      ...{ tokenEndpointAuthMethod: "tls_client_auth", tlsClientAuthSanDns: "client.partner.example" },
      ...{ grantTypes: ["client_credentials"], allowedScopes: ["readings:write"] },
      tlsClientCertificateBoundAccessTokens: true,
    });
    const client: oauth.Client = { client_id: application.id, use_mtls_endpoint_aliases: true };
    const shown = testCertificate({ subject: "x", issuer: authority, hosts: ["client.partner.example"] });
    const connection = fixture.client({
      certificate: shown.pem,
      key: shown.privateKey.export({ format: "pem", type: "pkcs8" }).toString(),
    });
    const overTls = async (url: string, { body }: { body?: unknown } = {}) => {
      assert.ok(url.startsWith(listeners.mtlsUrl), url);
      const form = Object.fromEntries(new URLSearchParams(String(body)));
      const { status, headers, body: answer } = await connection.post(new URL(url).pathname, form);
      return new Response(JSON.stringify(answer), { status, headers });
    };
    const granted = await oauth.clientCredentialsGrantRequest(
      ...([provider, client, oauth.TlsClientAuth(), {}, { [oauth.customFetch]: overTls }] as const),
    );
    const tokens = await oauth.processClientCredentialsResponse(provider, client, granted);
    const [, payload = ""] = tokens.access_token.split(".");
    const claims = JSON.parse(Buffer.from(payload, "base64url").toString()) as { cnf?: object };
    assert.deepEqual(Object.keys(claims.cnf ?? {}), ["x5t#S256"]);
  });
});
