import assert from "node:assert/strict";
import { createPublicKey, createSecretKey, generateKeyPairSync } from "node:crypto";
import { test } from "node:test";
import { jwkThumbprint, publicJwk } from "./jwk.ts";

const rfc7638Key = {
  kty: "RSA",
  n: [
    "0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCiFV4n3oknjhMst",
    "n64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQvRL5hajr",
    "n1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzKnqDKgw",
  ].join(""),
  e: "AQAB",
  alg: "RS256",
  kid: "2011-04-29",
};

test("the example of RFC 7638 §3.1", () => {
  assert.equal(jwkThumbprint(rfc7638Key), "NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs");
});

test("the example of RFC 8037 Appendix A.3, from its private key as well", () => {
  const key = { kty: "OKP", crv: "Ed25519", x: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo" };
  const thumbprint = "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k";
  assert.equal(jwkThumbprint(key), thumbprint);
  const privateKey = { d: "nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A", ...key };
  assert.equal(jwkThumbprint(privateKey), thumbprint);
});

test("a private key and its public key give the same JWK, with public members only", () => {
  const pairs = [
    [generateKeyPairSync("ec", { namedCurve: "P-256" }), "ES256", "alg crv kid kty use x y"],
    [generateKeyPairSync("rsa", { modulusLength: 2048 }), "RS256", "alg e kid kty n use"],
    [generateKeyPairSync("ed25519"), "EdDSA", "alg crv kid kty use x"],
    [generateKeyPairSync("ml-dsa-44"), "ML-DSA-44", "alg kid kty pub use"],
    [generateKeyPairSync("ml-dsa-65"), "ML-DSA-65", "alg kid kty pub use"],
    [generateKeyPairSync("ml-dsa-87"), "ML-DSA-87", "alg kid kty pub use"],
  ] as const;
  for (const [{ privateKey, publicKey }, alg, members] of pairs) {
    const jwk = publicJwk(privateKey, "k1", alg);
    assert.equal(Object.keys(jwk).sort().join(" "), members);
    assert.deepEqual(publicJwk(publicKey, "k1", alg), jwk);
    assert.deepEqual({ kid: jwk.kid, use: jwk.use, alg: jwk.alg }, { kid: "k1", use: "sig", alg });
    assert.ok(createPublicKey({ key: { ...jwk }, format: "jwk" }).equals(publicKey));
  }
});

test("rejects a symmetric key, and gives an incomplete JWK no thumbprint", () => {
  assert.throws(() => publicJwk(createSecretKey(Buffer.alloc(32)), "k1", "ES256"), TypeError);
  for (const jwk of [
    {},
    { kty: "oct" },
    { kty: "constructor" },
    { kty: "EC", crv: "P-256", x: "x" },
    { kty: "RSA", e: "AQAB" },
    { kty: "AKP", pub: "AAAA" },
    { kty: "AKP", alg: "ML-DSA-44" },
  ]) {
    assert.throws(() => jwkThumbprint(jwk), TypeError);
  }
});
