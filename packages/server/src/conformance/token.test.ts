/** OpenID conformance: token. All behaviours: docs/openid-behaviours.md. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { redeemWith } from "../testing/fakes/code-source.ts";
import { forEachProvider, verifiedIdToken } from "../testing/fakes/provider.ts";
import { type Answer, type CodeGrant, credentials, postForm, refresh } from "../testing/fixtures/client.ts";
import { assertOAuthError } from "../testing/probes/answers.ts";
import { REDIRECT_URI } from "../testing/test-service.ts";

forEachProvider((provider) => {
  /** RFC 6749 §2.3.1: both parts are form-urlencoded, escapes of plain characters included. */
  function basic(): Record<string, string> {
    const { application, secret } = provider().org.web;
    const escaped = [application.id.replace("-", "%2d"), secret.replaceAll("_", "%5F")].join(":");
    return { authorization: `Basic ${Buffer.from(escaped).toString("base64")}` };
  }
  const send = (code: CodeGrant, form: Record<string, string>, headers: Record<string, string>) =>
    postForm(
      `${provider().org.issuer}/token`,
      {
        grant_type: "authorization_code",
        code: code.code,
        code_verifier: code.verifier,
        redirect_uri: REDIRECT_URI,
        ...form,
      },
      headers,
    );

  function assertTokens({ status, headers, body }: Answer): void {
    assert.equal(status, 200);
    assert.match(headers.get("content-type") ?? "", /^application\/json/);
    assert.equal(headers.get("cache-control"), "no-store");
    assert.deepEqual([body["token_type"], body["expires_in"]], ["Bearer", 3600]);
  }

  test("redeems a code with client_secret_post and with client_secret_basic, but not with both", async () => {
    const { org, source } = provider();
    const inForm = credentials(org.web);
    assertTokens(await send(await source.code(), inForm, {}));
    const code = await source.code();
    assertOAuthError(await send(code, inForm, basic()), 400, "invalid_request", "both");
    assertTokens(await send(code, {}, basic()));
  });

  test("token and refresh responses are uncacheable JSON of type Bearer with expires_in", async () => {
    const { org, source } = provider();
    const answer = await redeemWith(org, await source.code());
    assertTokens(answer);
    assertTokens(await refresh(org, String(answer.body["refresh_token"])));
  });

  test("a refreshed ID token keeps iss, sub, aud and auth_time, and has a new iat", async () => {
    const { org, source, clock } = provider();
    for (const nonce of ["", "n-0S6_WzA2Mj"]) {
      const { idToken, refreshToken } = await source.tokens({ nonce });
      const first = await verifiedIdToken(provider(), idToken);
      clock.advance(60_000);
      const { body } = await refresh(org, refreshToken);
      const later = await verifiedIdToken(provider(), String(body["id_token"]));
      for (const claim of ["iss", "sub", "aud", "auth_time", "nonce"])
        assert.deepEqual(later[claim], first[claim], claim);
      assert.equal("nonce" in later, nonce !== "");
      assert.equal(later.iat, (first.iat ?? 0) + 60);
    }
  });
});
