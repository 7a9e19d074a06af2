import assert from "node:assert/strict";
import { generateKeyPairSync, sign } from "node:crypto";
import { describe, it } from "node:test";
import { mlDsaAlgs } from "@signet/protocol/jose/ml-dsa";
import type { JWK } from "jose";
import { SignetError } from "../errors.ts";
import { sharedSecret, signedToken, type TestKey, testKey } from "../testing/signed-token.ts";
import { hasSecretMembers, importPublicKey } from "./algorithms.ts";
import { type JwtChecks, verifyJwt } from "./verify-jwt.ts";

const NOW = 1_767_225_600;
const claims = { iss: "https://id.example", exp: NOW + 60 };

describe("verifyJwt", () => {
  const classical = ["ES256", "ES384", "ES512", "EdDSA", "Ed25519", "RS256", "RS512", "PS256", "PS384"];
  for (const alg of [...classical, ...mlDsaAlgs]) {
    it(`verifies ${alg}`, async () => {
      const key = await testKey("k", alg);
      const token = await signedToken(key, { alg, kid: "k" }, claims);
      assert.deepEqual((await verifyJwt(token, checks(key))).claims, claims);
    });
  }

  it("never accepts a shared secret, even if asked to", async () => {
    const bytes = new Uint8Array(32);
    const hmac = { name: "HMAC", hash: "SHA-256" };
    const secret = await crypto.subtle.importKey("raw", bytes, hmac, false, ["verify"]);
    const keys = { keyFor: async () => secret };
    for (const alg of ["HS256", "none"]) {
      const token = await signedToken(sharedSecret(bytes), { alg }, claims);
      await refused("token_algorithm", token, { ...checks(await testKey("k")), keys });
    }
  });

  it("selects the key by kid and alg alone, ignoring other headers", async () => {
    const key = await testKey("k");
    const asked: unknown[] = [];
    const keys = {
      keyFor: (header: object) => {
        asked.push(Object.keys(header));
        return importPublicKey(key.jwk, key.alg);
      },
    };
    const lures = { jku: "https://evil.example", x5u: "https://evil.example", jwk: {}, x5c: ["MIIB"] };
    await verifyJwt(await signedToken(key, { alg: "ES256", kid: "k", ...lures }, claims), {
      ...checks(key),
      keys,
    });
    assert.deepEqual(asked, [["alg", "kid"]]);
  });

  it("tolerates 60 seconds of clock skew, and no more", async () => {
    const key = await testKey("k");
    const at = (seconds: number) => ({ ...checks(key), clock: () => (NOW + seconds) * 1000 });
    const token = await signedToken(key, { alg: "ES256" }, { ...claims, nbf: NOW, iat: NOW, exp: NOW });
    await verifyJwt(token, at(59));
    await verifyJwt(token, at(-60));
    await refused("token_expired", token, at(60));
    await refused("token_not_yet_valid", token, at(-61));
  });

  it("accepts typ in any case and with application/, and a missing one only if allowed", async () => {
    const key = await testKey("k");
    const typed = async (typ: unknown, types: string[]) =>
      verifyJwt(await signedToken(key, { alg: "ES256", typ }, claims), { ...checks(key), types });
    await typed("application/at+JWT", ["at+jwt"]);
    await typed(undefined, ["JWT", ""]);
    await assert.rejects(typed(undefined, ["at+jwt"]), { code: "token_type" });
    await assert.rejects(typed("at+jwt", ["JWT", ""]), { code: "token_type" });
    await assert.rejects(typed(7, [""]), { code: "token_malformed" });
  });

  it("rejects anything but a JWT before looking up a key", async () => {
    const keys = { keyFor: () => assert.fail("no key is needed") };
    const part = Buffer.from("{}").toString("base64url");
    const header = Buffer.from('{"alg":"ES256"}').toString("base64url");
    const long = `${header}.${"A".repeat(40_000)}.AAAA`;
    for (const token of [
      "",
      "..",
      "a.b",
      "a.b.c.d.e",
      "a.b.c",
      `${part}.${part}.AAAA`,
      `[].${part}.A`,
      long,
      " a.b.c",
    ])
      await refused("token_malformed", token, { ...checks(await testKey("k")), keys });
    await refused("token_malformed", undefined as unknown as string, { ...checks(await testKey("k")), keys });
  });

  it("rejects claims that are not a JSON object", async () => {
    const key = await testKey("k");
    for (const wrong of [[], null, "text", 7])
      await refused("token_malformed", await signedToken(key, { alg: "ES256" }, wrong), checks(key));
  });

  it("verifies what node:crypto signs with ML-DSA, under the key's own parameter set alone", async () => {
    for (const alg of mlDsaAlgs) {
      const { privateKey, publicKey } = generateKeyPairSync(alg.toLowerCase() as "ml-dsa-44");
      const jwk = publicKey.export({ format: "jwk" }) as JWK;
      const key = { sign: async (input: Uint8Array) => new Uint8Array(sign(null, input, privateKey)).buffer };
      const keys = { keyFor: ({ alg: asked }: { alg: string }) => importPublicKey(jwk, asked) };
      const expected = { ...checks(await testKey("k")), keys };
      await verifyJwt(await signedToken(key, { alg }, claims), expected);
      for (const other of ["ML-DSA-44", "ML-DSA-65", "ML-DSA-87", "EdDSA"].filter((one) => one !== alg))
        await refused("token_algorithm", await signedToken(key, { alg: other }, claims), expected);
      const changed = (await signedToken(key, { alg }, claims)).replace(/.{8}$/, "AAAAAAAA");
      await refused("token_signature", changed, expected);
    }
  });

  it("imports AKP keys with their alg and whole only, and never a private one", async () => {
    const { jwk } = await testKey("k", "ML-DSA-65");
    const pub = String(jwk.pub);
    const imported = (more: object) => importPublicKey({ ...jwk, ...more } as JWK, "ML-DSA-65");
    assert.equal((await imported({})).type, "public");
    for (const changed of [{ pub: pub.slice(4) }, { pub: `${pub}AAAA` }, { pub: "" }, { pub: undefined }])
      await assert.rejects(imported(changed), { code: "token_key_untrusted" });
    for (const changed of [{ alg: undefined }, { alg: "ML-DSA-44" }, { kty: "OKP" }, { kty: "EC" }])
      await assert.rejects(imported(changed), { code: "token_algorithm" });
    const ec = await testKey("k", "ES256");
    for (const alg of mlDsaAlgs)
      for (const wrong of [ec.jwk, { ...ec.jwk, kty: "AKP" }, { ...ec.jwk, alg }])
        await assert.rejects(importPublicKey(wrong as JWK, alg), { code: "token_algorithm" });
    const disguised = { ...ec.jwk, kty: "AKP", alg: "ML-DSA-65" } as JWK;
    await assert.rejects(importPublicKey(disguised, "ML-DSA-65"), { code: "token_key_untrusted" });
    assert.equal(hasSecretMembers({ ...jwk, priv: "AAAA" }), true);
  });

  it("says which runtime it needs where WebCrypto has no ML-DSA", async (t) => {
    const key = await testKey("k", "ML-DSA-44");
    const token = await signedToken(key, { alg: "ML-DSA-44", kid: "k" }, claims);
    // As Node.js 20 and 22 answer.
    t.mock.method(crypto.subtle, "importKey", async () => {
      throw new DOMException("Unrecognized algorithm name", "NotSupportedError");
    });
    await assert.rejects(verifyJwt(token, checks(key)), (error) => {
      assert.ok(error instanceof SignetError);
      assert.deepEqual([error.code, error.status], ["token_algorithm_unsupported", 401]);
      assert.match(error.message, /ML-DSA-44.*Node\.js has it from 24\.7/);
      return true;
    });
  });

  it("rejects RSA keys that are too short", async () => {
    const short = await crypto.subtle.generateKey(
      {
        name: "RSASSA-PKCS1-v1_5",
        hash: "SHA-256",
        modulusLength: 1024,
        publicExponent: new Uint8Array([1, 0, 1]),
      },
      true,
      ["sign", "verify"],
    );
    const jwk = await crypto.subtle.exportKey("jwk", short.publicKey);
    await assert.rejects(importPublicKey({ kty: "RSA", n: String(jwk.n), e: String(jwk.e) }, "RS256"), {
      code: "token_key_untrusted",
    });
  });
});

function checks(key: TestKey): JwtChecks {
  return {
    keys: { keyFor: ({ alg }) => importPublicKey(key.jwk, alg) },
    issuer: "https://id.example",
    types: undefined,
    clock: () => NOW * 1000,
    requiredClaims: ["exp"],
  };
}

async function refused(code: string, token: string, against: JwtChecks): Promise<void> {
  await assert.rejects(
    verifyJwt(token, against),
    (error) => error instanceof SignetError && error.code === code,
  );
}
