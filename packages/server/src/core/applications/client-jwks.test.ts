import assert from "node:assert/strict";
import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { test } from "node:test";
import { type ClientJwk, clientJwkFault, clientJwksFaults, usableClientJwks } from "./client-jwks.ts";

const ec = (namedCurve = "P-256") => generateKeyPairSync("ec", { namedCurve });
const rsa = (modulusLength: number, publicExponent = 65_537) =>
  generateKeyPairSync("rsa", { modulusLength, publicExponent });
const publicJwk = ({ publicKey }: { publicKey: KeyObject }): ClientJwk => ({
  ...publicKey.export({ format: "jwk" }),
});
const p256 = publicJwk(ec());

test("P-256, Ed25519 and RSA public keys are accepted, with or without kid, use, alg and key_ops", () => {
  const keys = [p256, publicJwk(generateKeyPairSync("ed25519")), publicJwk(rsa(2048))];
  for (const key of keys) {
    assert.equal(clientJwkFault(key), undefined);
    assert.equal(clientJwkFault({ ...key, kid: "a", use: "sig", key_ops: ["verify"], x5t: "x" }), undefined);
  }
  assert.equal(clientJwkFault({ ...p256, alg: "ES256" }), undefined);
});

test("rejects private and symmetric keys, whatever else they contain", () => {
  for (const member of ["d", "p", "q", "dp", "dq", "qi", "oth", "k", "priv"])
    assert.match(clientJwkFault({ ...p256, [member]: "AA" }) ?? "", /public members only/, member);
  const { privateKey } = ec();
  assert.match(clientJwkFault(privateKey.export({ format: "jwk" })) ?? "", /public members only/);
  assert.match(clientJwkFault({ kty: "oct" }) ?? "", /must be an RSA, P-256 or Ed25519/);
});

test("rejects weak and invalid keys", () => {
  const short = publicJwk(rsa(1024));
  const small = publicJwk(rsa(2048, 3));
  assert.match(clientJwkFault(short) ?? "", /2048 to 8192 bits/);
  assert.match(clientJwkFault(small) ?? "", /exponent/);
  const exponent = (bytes: number) => ({
    ...publicJwk(rsa(2048)),
    e: Buffer.alloc(bytes, 0xff).toString("base64url"),
  });
  assert.match(
    clientJwkFault(exponent(33)) ?? "",
    /exponent/,
    "slow to check, whoever sends a proof with it",
  );
  assert.equal(clientJwkFault(exponent(32)), undefined);
  const wrong: unknown[] = [
    publicJwk(ec("P-384")),
    publicJwk(ec("secp256k1")),
    publicJwk(generateKeyPairSync("x25519")),
    { ...p256, crv: "P-384" },
    { ...p256, x: p256["y"], y: p256["x"] },
    { ...p256, x: undefined },
    { ...p256, kty: "RSA" },
    { ...p256, kty: "constructor" },
    { ...p256, use: "other" },
    { ...p256, use: "enc", alg: "ES256" },
    { ...p256, use: "enc", key_ops: ["verify"] },
    { ...p256, key_ops: ["sign"] },
    { ...p256, key_ops: "verify" },
    { ...p256, alg: "RS256" },
    { ...p256, alg: "HS256" },
    { ...p256, alg: "none" },
    { ...p256, kid: "" },
    { ...p256, kid: 7 },
    { ...p256, ext: "yes" },
    { ...p256, more: JSON.parse("[".repeat(32) + "]".repeat(32)) },
    { ...p256, more: "half \ud800" },
    null,
    "key",
    [p256],
    {},
  ];
  for (const jwk of wrong) assert.ok(clientJwkFault(jwk), JSON.stringify(jwk));
});

test("a key set has 1 to 20 keys, with distinct kids if several", () => {
  const named = (kid: string) => ({ ...p256, kid });
  assert.deepEqual(clientJwksFaults({ keys: [p256] }), []);
  assert.deepEqual(clientJwksFaults({ keys: [named("a"), named("b")] }), []);
  for (const jwks of [undefined, null, [], {}, { keys: {} }, { keys: [] }, { keys: Array(21).fill(p256) }])
    assert.equal(clientJwksFaults(jwks)[0]?.path, "keys", JSON.stringify(jwks)?.slice(0, 40));
  for (const keys of [
    [p256, named("a")],
    [named("a"), named("a")],
  ])
    assert.match(clientJwksFaults({ keys })[0]?.message ?? "", /distinct kids/);
  assert.equal(clientJwksFaults({ keys: [p256, { kty: "oct" }] })[0]?.path, "keys[1]");
});

test("ignores unusable keys of a served set, and rejects what is not a key set", () => {
  const served = { keys: [p256, { kty: "oct", k: "AA" }, { ...p256, d: "AA" }, "x", publicJwk(ec("P-521"))] };
  assert.deepEqual(usableClientJwks(JSON.stringify(served)), [p256]);
  assert.equal(usableClientJwks(JSON.stringify({ keys: Array(1_000).fill(p256) }))?.length, 20);
  for (const text of ["", "<html>", "null", "[]", '{"keys":{}}'])
    assert.equal(usableClientJwks(text), undefined, text);
});
