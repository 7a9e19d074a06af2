import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { SignetError, type SignetErrorCode } from "../errors.ts";
import { verifyLogoutToken } from "../oauth-federated/back-channel-logout.ts";
import { createProvider } from "../provider/discovery.ts";
import { createHttp } from "../provider/http.ts";
import { verifyAccessToken } from "../tokens/access-token.ts";
import { verifyIdToken } from "../tokens/id-token.ts";
import { invalidTokens } from "./invalid-tokens.ts";
import { testKey } from "./signed-token.ts";
import {
  AUDIENCE,
  CLIENT_ID,
  createTestProvider,
  ISSUER,
  PERM_ID,
  START_MS,
  type TestProvider,
  type TokenChanges,
} from "./test-provider.ts";

const NOW = START_MS / 1000;
const provider = await createTestProvider();
const stranger = await testKey("key-1");
const p384 = await testKey("key-p384", "ES384");
const rsa = await testKey("key-rsa", "RS256");
const lattice = await testKey("key-lattice", "ML-DSA-65");

const spoilt = invalidTokens(provider, stranger);

const idTokenChanges = { claims: { nonce: "n-1", auth_time: NOW - 10 } };

const kinds = {
  "ID token": {
    make: (changes: TokenChanges = {}) =>
      provider.idToken({ ...changes, claims: { ...idTokenChanges.claims, ...changes.claims } }),
    verify: (token: string, hostile: TestProvider = provider) =>
      verifyIdToken(token, {
        ...common(hostile),
        clientId: CLIENT_ID,
        nonce: "n-1",
        accessToken: "the access token",
        maxAgeSeconds: 300,
      }),
    table: [...spoilt.any, ...spoilt.idToken],
  },
  "access token": {
    make: provider.accessToken,
    verify: (token: string, hostile: TestProvider = provider) =>
      verifyAccessToken(token, { ...common(hostile), audience: AUDIENCE, allowUntyped: false }),
    table: [...spoilt.any, ...spoilt.accessToken],
  },
  "logout token": {
    make: provider.logoutToken,
    verify: (token: string, hostile: TestProvider = provider) =>
      verifyLogoutToken(token, { ...common(hostile), clientId: CLIENT_ID }),
    table: [...spoilt.any, ...spoilt.logoutToken],
  },
};

for (const [kind, { make, verify, table }] of Object.entries(kinds)) {
  describe(`a provider's ${kind}`, () => {
    it("is accepted if valid", async () => {
      const { exp } = await verify(await make());
      assert.equal(exp, NOW + 3600);
    });
    for (const [what, code, changes] of table) {
      it(`is rejected with ${code}: ${what}`, async () => {
        await refused(code, verify(await make(changes)));
      });
    }
    it("is rejected if any character has changed", async () => {
      const [header = "", claims = "", signature = ""] = (await make()).split(".");
      const flipped = (part: string) => `${part.slice(0, 9)}${part[9] === "A" ? "B" : "A"}${part.slice(10)}`;
      for (const parts of [
        [header, flipped(claims), signature],
        [header, claims, flipped(signature)],
        [header, claims, ""],
        [header, claims],
        [header, claims, signature, ""],
        [`${header}=`, claims, signature],
      ])
        await assert.rejects(Promise.resolve(verify(parts.join("."))), SignetError, parts.join("."));
    });
  });
}

describe("a malicious provider", () => {
  it("can't pass an ID token off as an access token, even if tokens are untyped", async () => {
    const untyped = { ...common(provider), audience: AUDIENCE, allowUntyped: true };
    for (const claims of [{ nonce: "n" }, { at_hash: "h" }, { token_use: "id" }, { typ: "ID" }]) {
      const idToken = await provider.idToken({ claims: { aud: AUDIENCE, ...claims } });
      await refused("token_type", verifyAccessToken(idToken, untyped));
    }
    await refused("token_audience", verifyAccessToken(await provider.idToken(), untyped));
    const foreign = await provider.accessToken({
      header: { typ: undefined },
      claims: { client_id: undefined, jti: undefined },
    });
    assert.equal((await verifyAccessToken(foreign, untyped)).sub, PERM_ID);
  });

  it("can't swap its keys: the new set doesn't verify earlier tokens", async () => {
    const hostile = await createTestProvider();
    const token = await hostile.accessToken();
    hostile.keys.splice(0, 1, stranger.jwk);
    await refused("token_signature", kinds["access token"].verify(token, hostile));
  });

  const jwk = provider.key.jwk;
  const keySets: readonly (readonly [string, SignetErrorCode, unknown[]])[] = [
    ["two keys of one kid", "token_key_untrusted", [jwk, stranger.jwk]],
    ["a private key", "token_key_untrusted", [{ ...jwk, d: "AAAA" }]],
    ["a private key of ML-DSA", "token_key_untrusted", [{ ...lattice.jwk, kid: "key-1", priv: "AAAA" }]],
    ["a key of ML-DSA", "token_algorithm", [{ ...lattice.jwk, kid: "key-1" }]],
    ["a key for encryption", "token_key_untrusted", [{ ...jwk, use: "enc" }]],
    ["a key that may not verify", "token_key_untrusted", [{ ...jwk, key_ops: ["sign"] }]],
    ["a shared secret", "token_key_untrusted", [{ kty: "oct", k: "AAAA", kid: "key-1" }]],
    ["a point that is not on its curve", "token_key_untrusted", [{ ...jwk, x: "AAAA" }]],
    ["a key of another alg", "token_algorithm", [{ ...jwk, alg: "ES384" }]],
    ["a key of another type", "token_algorithm", [{ ...rsa.jwk, kid: "key-1" }]],
    ["a key of another curve", "token_algorithm", [{ ...p384.jwk, kid: "key-1", alg: undefined }]],
    ["no keys", "token_key_unknown", []],
    ["a key without a name", "token_key_unknown", [{ ...jwk, kid: undefined }]],
    ["something that is no key", "token_key_unknown", ["key-1", null, 1]],
  ];
  for (const [what, code, keys] of keySets) {
    it(`can't make a token valid with a key set that has ${what}: ${code}`, async () => {
      const hostile = await createTestProvider();
      hostile.keys.splice(0, 1, ...keys);
      const token = await provider.accessToken();
      await refused(code, kinds["access token"].verify(token, hostile));
    });
  }
});

/** All that verifiers have in common, for a provider that has not been asked before. */
function common(hostile: TestProvider) {
  const http = createHttp({ fetch: hostile.fetch }, { environment: "production" });
  const { keys } = createProvider({ issuer: ISSUER, http, clock: hostile.clock });
  return { keys, issuer: ISSUER, clock: hostile.clock };
}

async function refused(code: SignetErrorCode, verification: Promise<unknown>): Promise<void> {
  await assert.rejects(verification, (error) => {
    assert.ok(error instanceof SignetError, String(error));
    assert.equal(error.code, code, error.message);
    // What is shown to callers and written to logs holds nothing of the token.
    assert.doesNotMatch(error.message, /eyJ/);
    return true;
  });
}
