/** OpenID conformance: ID token. All behaviours: docs/openid-behaviours.md. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { codeSource } from "../testing/fakes/code-source.ts";
import { forEachProvider, verifiedIdToken } from "../testing/fakes/provider.ts";
import { makeClient, REDIRECT_URI } from "../testing/test-service.ts";

/** OpenID Connect Core §3.1.3.6, reckoned without our own code; Ed25519 hashes with SHA-512. */
const leftHalf = (digest: string, token: string): string => {
  const whole = createHash(digest).update(token).digest();
  return whole.subarray(0, whole.length / 2).toString("base64url");
};
const algorithms = { ES256: "sha256", RS256: "sha256", PS256: "sha256", EdDSA: "sha512" } as const;

forEachProvider((provider) => {
  for (const [alg, digest] of Object.entries(algorithms))
    test(`signed with ${alg}: correct iss, aud, exp, iat and sub, the request's nonce and at_hash`, async () => {
      const { running, org, source, clock } = provider();
      const client = await makeClient(running.service, org.organisation, {
        redirectUris: [REDIRECT_URI],
        idTokenSignedResponseAlg: alg as keyof typeof algorithms,
      });
      const nonce = `${alg} n-0S6_WzA2Mj &=+✓`;
      const { idToken, accessToken } = await source.tokens({ nonce }, client);
      const claims = await verifiedIdToken(provider(), idToken, client);
      const now = Math.floor(clock() / 1000);
      assert.deepEqual(
        [claims.iss, claims.aud, claims.exp, claims.iat, claims.sub, claims["nonce"]],
        [org.issuer, client.application.id, now + 3600, now, org.user.id, nonce],
      );
      assert.equal(claims["at_hash"], leftHalf(digest, accessToken));
    });

  test("sid identifies the session: the same within a browser, different across browsers", async () => {
    const { org, source } = provider();
    const sid = async (from = source) =>
      (await verifiedIdToken(provider(), (await from.tokens()).idToken))["sid"];
    const first = await sid();
    assert.equal(typeof first, "string");
    assert.equal(await sid(), first);
    assert.notEqual(await sid(codeSource(org)), first);
  });

  test("omits claims that were not requested, even of granted scopes", async () => {
    const { idToken } = await provider().source.tokens({
      scope: "openid profile email phone offline_access",
    });
    const names = Object.keys(await verifiedIdToken(provider(), idToken)).sort();
    const own = "acr amr at_hash aud auth_time azp exp iat iss sid sub";
    assert.equal(names.join(" "), own);
  });
});
