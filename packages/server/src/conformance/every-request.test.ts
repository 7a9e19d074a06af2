/** OpenID conformance: every request. All behaviours: docs/openid-behaviours.md. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { codeSource, redeemWith } from "../testing/fakes/code-source.ts";
import { forEachProvider, metadataOf, verifiedIdToken } from "../testing/fakes/provider.ts";
import { credentials, postForm, refresh } from "../testing/fixtures/client.ts";
import { answerOf, visit } from "../testing/fixtures/visit.ts";
import { sendRaw } from "../testing/probes/answers.ts";

/** An empty value leaves the parameter out. */
const harmless: ReadonlyArray<readonly [what: string, parameters: Readonly<Record<string, string>>]> = [
  ["an unknown parameter", { extra: "foobar", constructor: "x" }],
  ["a missing nonce", { nonce: "" }],
  ["a missing state", { state: "" }],
  ["display=page", { display: "page" }],
  ["display=popup", { display: "popup" }],
  ["display=wap", { display: "wap" }],
  ["another order of scopes", { scope: "email profile openid" }],
  ["ui_locales", { ui_locales: "se xx-YY" }],
  ["claims_locales", { claims_locales: "se" }],
  ["acr_values", { acr_values: "1 2 urn:nobody:knows" }],
  ["login_hint", { login_hint: "bob@nowhere.example" }],
];

forEachProvider((provider) => {
  test("publishes discovery and JWKS: each key has its own kid and no private member", async () => {
    const { running, org, source } = provider();
    const { idToken } = await source.tokens();
    await running.service.keys.rotate(org.organisation.id, "ES256", { actor: "test", compromised: false });
    const metadata = await metadataOf(provider());
    const { status, body } = await sendRaw(String(metadata["jwks_uri"]), {});
    assert.equal(status, 200);
    const keys = body["keys"] as Record<string, unknown>[];
    assert.ok(keys.length >= 3, "also two of one algorithm");
    assert.ok(keys.every(({ kid }) => typeof kid === "string" && kid !== ""));
    assert.equal(new Set(keys.map(({ kid }) => kid)).size, keys.length);
    for (const member of ["d", "p", "q", "dp", "dq", "qi", "oth", "k", "priv"])
      assert.ok(!keys.some((key) => member in key), member);
    await verifiedIdToken(provider(), idToken);
  });

  for (const [what, parameters] of harmless)
    test(`${what} causes no error`, async () => {
      const { idToken } = await codeSource(provider().org).tokens(parameters);
      await verifiedIdToken(provider(), idToken);
    });

  test("an unknown parameter causes no error at the token endpoint", async () => {
    const { org, source } = provider();
    const answer = await redeemWith(org, await source.code(), { extra: "foobar", audience: "x", nonce: "y" });
    assert.equal(answer.status, 200);
    assert.equal((await refresh(org, String(answer.body["refresh_token"]), { extra: "foobar" })).status, 200);
  });

  test("returns a state of 128 characters and more intact, with a code and with an error", async () => {
    const { org, source } = provider();
    await source.code();
    for (const length of [128, 129, 1_000, 4_000]) {
      const state = "aZ9-._~ &=+%é✓".repeat(length).slice(0, length);
      for (const [more, outcome] of [
        [{}, "code"],
        [{ request: "e30.e30." }, "error"],
      ] as const) {
        const answer = answerOf(await visit(source.browser, org, { more: { ...more, state } }));
        assert.ok(answer.has(outcome), `${answer}`);
        assert.equal(answer.get("state"), state);
      }
    }
  });

  test("no response has an unexpected member", async () => {
    const { org, source } = provider();
    const members = (answer: Record<string, unknown>) => Object.keys(answer).sort().join(" ");
    const at = (path: string, form: Record<string, string>) =>
      postForm(`${org.issuer}/${path}`, { ...form, ...credentials(org.web) });
    const tokens = await source.tokens();
    const [granted, refused] = await Promise.all(
      [{}, { request: "e30.e30." }].map((more) => visit(source.browser, org, { more })),
    );
    assert.ok(granted && refused);
    assert.equal(members(Object.fromEntries(answerOf(granted))), "code iss state");
    assert.equal(members(Object.fromEntries(answerOf(refused))), "error error_description iss state");
    const token = "access_token expires_in id_token refresh_token scope token_type";
    assert.equal(members(tokens.body), token);
    assert.equal(members((await refresh(org, tokens.refreshToken)).body), token);
    const failed = await at("token", { grant_type: "authorization_code", code: "x", code_verifier: "x" });
    assert.equal(members(failed.body), "error error_description");
    assert.equal(members((await at("introspect", { token: "x" })).body), "active");
    assert.equal(members((await at("revoke", { token: "x" })).body), "");
    const headers = { authorization: `Bearer ${tokens.accessToken}` };
    const { body } = await sendRaw(`${org.issuer}/userinfo`, { headers });
    const profile =
      "email email_verified family_name given_name name org_id preferred_username role sub updated_at";
    assert.equal(members(body), profile);
  });
});
