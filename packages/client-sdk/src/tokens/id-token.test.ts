import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { describe, it } from "node:test";
import { signedToken, testKey } from "../testing/signed-token.ts";
import { CLIENT_ID, createTestProvider, ISSUER, START_MS } from "../testing/test-provider.ts";
import { importPublicKey } from "./algorithms.ts";
import { verifyIdToken } from "./id-token.ts";

const ACCESS_TOKEN = "an access token";

describe("verifyIdToken", () => {
  for (const [alg, digest] of [
    ["ES256", "sha256"],
    ["ES384", "sha384"],
    ["EdDSA", "sha512"],
    ["ML-DSA-44", "shake256"],
    ["ML-DSA-65", "shake256"],
    ["ML-DSA-87", "shake256"],
  ] as const) {
    it(`compares at_hash with the hash for ${alg}`, async () => {
      const key = await testKey("k", alg);
      const options = digest === "shake256" ? { outputLength: 64 } : {};
      const bytes = createHash(digest, options).update(ACCESS_TOKEN).digest();
      const atHash = bytes.subarray(0, bytes.length / 2).toString("base64url");
      const seconds = START_MS / 1000;
      const claims = {
        iss: ISSUER,
        sub: "s",
        aud: CLIENT_ID,
        iat: seconds,
        exp: seconds + 60,
        at_hash: atHash,
      };
      const token = await signedToken(key, { alg, kid: "k" }, claims);
      const verify = (accessToken: string) =>
        verifyIdToken(token, {
          keys: { keyFor: () => importPublicKey(key.jwk, alg) },
          issuer: ISSUER,
          clientId: CLIENT_ID,
          accessToken,
          clock: () => START_MS,
        });
      assert.equal((await verify(ACCESS_TOKEN)).sub, "s");
      await assert.rejects(verify(`${ACCESS_TOKEN}.`), { code: "token_claim" });
    });
  }

  it("accepts several audiences if azp is this client", async () => {
    const provider = await createTestProvider();
    const token = await provider.idToken({ claims: { aud: [CLIENT_ID, "other"] } });
    const keys = { keyFor: () => importPublicKey(provider.key.jwk, "ES256") };
    const { aud } = await verifyIdToken(token, {
      keys,
      issuer: ISSUER,
      clientId: CLIENT_ID,
      clock: provider.clock,
    });
    assert.deepEqual(aud, [CLIENT_ID, "other"]);
  });
});
