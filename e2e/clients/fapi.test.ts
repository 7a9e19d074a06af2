/** `openid-client` does all of FAPI 2.0 Message Signing: signed requests, pushed; signed responses; DPoP with nonces. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { generateKeyPair } from "jose";
import * as oidc from "openid-client";
import { forJourneyDatabases } from "../../packages/server/src/testing/databases.ts";
import { authorize, testBrowser } from "../../packages/server/src/testing/fakes/browser.ts";
import { requestKey } from "../../packages/server/src/testing/fixtures/request-object.ts";
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
  });
  after(async () => {
    await running.close();
    assert.deepEqual(running.errors, []);
  });

  for (const alg of ["ES256", "PS256"] as const)
    test(`signs in, reads userinfo and refreshes, with ${alg}`, async () => {
      const key = await requestKey(alg);
      const { application } = await makeClient(running.service, org.organisation, {
        ...{ redirectUris: [REDIRECT_URI], requireConsent: false, jwks: { keys: [{ ...key.jwk }] } },
        ...{
          tokenEndpointAuthMethod: "private_key_jwt",
          dpopBoundAccessTokens: true,
          requireDpopNonce: true,
        },
        ...{ securityProfile: "fapi2-message-signing", authorizationSignedResponseAlg: alg },
        userinfoSignedResponseAlg: alg,
      });
      const signer = { key: key.privateKey, kid: key.kid };
      const metadata = { authorization_signed_response_alg: alg, userinfo_signed_response_alg: alg };
      const config = await oidc.discovery(
        new URL(org.issuer),
        application.id,
        metadata,
        // FAPI 2.0 SP §5.3.2.1: the issuer as a string is the only audience.
        oidc.PrivateKeyJwt(signer, {
          [oidc.modifyAssertion]: (_header, payload) => {
            payload.aud = org.issuer;
          },
        }),
        { execute: [oidc.allowInsecureRequests, oidc.useJwtResponseMode] },
      );
      const DPoP = oidc.getDPoPHandle(config, await generateKeyPair("ES256"));
      const verifier = oidc.randomPKCECodeVerifier();
      const state = oidc.randomState();
      const signed = await oidc.buildAuthorizationUrlWithJAR(
        config,
        {
          ...{ redirect_uri: REDIRECT_URI, scope: "openid email", state, code_challenge_method: "S256" },
          code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
        },
        signer,
      );
      const pushed = await oidc.buildAuthorizationUrlWithPAR(config, signed.searchParams, { DPoP });
      assert.deepEqual([...pushed.searchParams.keys()].sort(), ["client_id", "request_uri"]);
      const query = pushed.searchParams.toString();
      const answer = await authorize(testBrowser(), { issuer: org.issuer, query, ...org.user });
      const tokens = await oidc.authorizationCodeGrant(
        config,
        new URL(`${REDIRECT_URI}?${answer}`),
        { pkceCodeVerifier: verifier, expectedState: state },
        undefined,
        { DPoP },
      );
      assert.equal(tokens.token_type, "dpop");
      const sub = String(tokens.claims()?.sub);
      const userinfo = await oidc.fetchUserInfo(config, tokens.access_token, sub, { DPoP });
      assert.equal(userinfo.email, org.user.email);
      const next = await oidc.refreshTokenGrant(config, String(tokens.refresh_token), undefined, { DPoP });
      assert.equal(next.refresh_token, tokens.refresh_token);
    });
});
