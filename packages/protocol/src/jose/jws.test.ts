import assert from "node:assert/strict";
import { createHook } from "node:async_hooks";
import {
  constants,
  createHmac,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
} from "node:crypto";
import { test } from "node:test";
import fc from "fast-check";
import {
  decodeJwsUnverified,
  isSigningAlg,
  isTokenAlg,
  signJws,
  type TokenAlg,
  tokenAlgorithms,
  verifyJws,
} from "./jws.ts";
import { mlDsaAlgs, mlDsaSizes } from "./ml-dsa.ts";

// Any UTF-16 string, lone surrogates included.
const anyText = fc.string({ unit: fc.nat(0xffff).map((code) => String.fromCharCode(code)) });

const ec = generateKeyPairSync("ec", { namedCurve: "P-256" });
const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 });
const ed = generateKeyPairSync("ed25519");
const mlDsa = {
  "ML-DSA-44": generateKeyPairSync("ml-dsa-44"),
  "ML-DSA-65": generateKeyPairSync("ml-dsa-65"),
  "ML-DSA-87": generateKeyPairSync("ml-dsa-87"),
};
const pairs = { ES256: ec, RS256: rsa, PS256: rsa, EdDSA: ed, ...mlDsa };
const algorithms = Object.keys(tokenAlgorithms).filter(isTokenAlg);
const payload = { sub: "jürgen", exp: 1 };
const atJwt = { typ: ["at+jwt"] };

const tokenOf = (alg: TokenAlg) =>
  signJws({ alg, kid: "k1", typ: "at+jwt", privateKey: pairs[alg].privateKey, payload });
const keyOf =
  (alg: TokenAlg, publicKey: KeyObject = pairs[alg].publicKey) =>
  () => ({ publicKey, alg });
const segment = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");

/** A token of any header and payload segment, with a good ES256 signature. */
function forge(header: object, body = segment(payload), key: KeyObject = ec.privateKey): string {
  const input = `${segment(header)}.${body}`;
  return `${input}.${sign("sha256", Buffer.from(input), { key, dsaEncoding: "ieee-p1363" }).toString("base64url")}`;
}

const accepts = (token: string, alg: TokenAlg = "ES256") => verifyJws(token, keyOf(alg), atJwt) !== undefined;

test("signs and verifies with every algorithm; the header is alg, typ and kid in this order", async () => {
  assert.equal(algorithms.length, 7);
  for (const alg of algorithms) {
    const token = await tokenOf(alg);
    assert.deepEqual(
      verifyJws(token, keyOf(alg), atJwt),
      { header: { alg, typ: "at+jwt", kid: "k1" }, payload },
      alg,
    );
    assert.equal(
      Buffer.from(token.split(".")[0] ?? "", "base64url").toString(),
      `{"alg":"${alg}","typ":"at+jwt","kid":"k1"}`,
    );
  }
});

test("signs a string payload unchanged", async () => {
  const token = await signJws({
    alg: "ES256",
    kid: "k1",
    typ: "at+jwt",
    privateKey: ec.privateKey,
    payload: '{ "a": 1 }',
  });
  assert.equal(Buffer.from(token.split(".")[1] ?? "", "base64url").toString(), '{ "a": 1 }');
});

test("signing rejects a key that does not fit the algorithm", async () => {
  const input = { kid: "k1", typ: "at+jwt", payload };
  await assert.rejects(signJws({ ...input, alg: "RS256", privateKey: ec.publicKey }));
  await assert.rejects(signJws({ ...input, alg: "EdDSA", privateKey: ec.privateKey }));
});

test("signs on the thread pool, not on the event loop", async () => {
  const resources: string[] = [];
  const hook = createHook({ init: (_id, type) => void resources.push(type) }).enable();
  await tokenOf("ES256");
  hook.disable();
  assert.ok(resources.includes("SIGNREQUEST"), resources.join(" "));
});

const rfc7515Payload = { iss: "joe", exp: 1300819380, "http://example.com/is_root": true };
const rfc7515Body =
  "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ";

test("the example of RFC 7515 Appendix A.2 (RS256)", () => {
  const n = [
    "ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZS-pCgNMs",
    "D1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdV",
    "MTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ",
  ].join("");
  const signature = [
    "cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9uJdbF9CUAr7t1dnZ",
    "cAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-e",
    "OkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw",
  ].join("");
  const publicKey = createPublicKey({ key: { kty: "RSA", n, e: "AQAB" }, format: "jwk" });
  const token = `eyJhbGciOiJSUzI1NiJ9.${rfc7515Body}.${signature}`;
  assert.deepEqual(
    verifyJws(token, keyOf("RS256", publicKey), { typ: [undefined] })?.payload,
    rfc7515Payload,
  );
});

test("the example of RFC 7515 Appendix A.3 (ES256)", () => {
  const x = "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU";
  const y = "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0";
  const signature = "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q";
  const publicKey = createPublicKey({ key: { kty: "EC", crv: "P-256", x, y }, format: "jwk" });
  const token = `eyJhbGciOiJFUzI1NiJ9.${rfc7515Body}.${signature}`;
  assert.deepEqual(
    verifyJws(token, keyOf("ES256", publicKey), { typ: [undefined] })?.payload,
    rfc7515Payload,
  );
});

test("rejects alg none and HMAC with the public key before any key lookup", () => {
  const noKey = () => assert.fail("asked for a key");
  const pem = rsa.publicKey.export({ type: "spki", format: "pem" });
  for (const alg of ["none", "None", "HS256", "RS1", "toString", "", null, 1, ["ES256"]]) {
    const input = `${segment({ alg, typ: "at+jwt" })}.${segment(payload)}`;
    const mac = createHmac("sha256", pem).update(input).digest("base64url");
    for (const token of [input, `${input}.`, `${input}.${mac}`])
      assert.equal(verifyJws(token, noKey, atJwt), undefined);
  }
});

test("rejects a valid signature of another algorithm than the key's", async () => {
  assert.equal(accepts(await tokenOf("RS256"), "PS256"), false);
  assert.equal(accepts(await tokenOf("PS256"), "RS256"), false);
  assert.equal(accepts(await tokenOf("ES256"), "EdDSA"), false);
  assert.equal(
    accepts(forge({ alg: "RS256", typ: "at+jwt" }), "ES256"),
    false,
    "a header that lies about the signature",
  );
});

test("rejects a key of the wrong type, curve or size, and a missing key", async () => {
  const token = await tokenOf("ES256");
  const p384 = generateKeyPairSync("ec", { namedCurve: "P-384" });
  for (const { publicKey } of [rsa, ed, p384])
    assert.equal(verifyJws(token, keyOf("ES256", publicKey), atJwt), undefined);
  const k1 = generateKeyPairSync("ec", { namedCurve: "secp256k1" });
  const otherCurve = forge({ alg: "ES256", typ: "at+jwt" }, segment(payload), k1.privateKey);
  assert.equal(verifyJws(otherCurve, keyOf("ES256", k1.publicKey), atJwt), undefined);
  const small = generateKeyPairSync("rsa", { modulusLength: 1024 });
  const weak = await signJws({
    alg: "RS256",
    kid: "k1",
    typ: "at+jwt",
    privateKey: small.privateKey,
    payload,
  });
  assert.equal(verifyJws(weak, keyOf("RS256", small.publicKey), atJwt), undefined);
  assert.equal(
    verifyJws(token, () => undefined, atJwt),
    undefined,
  );
});

test("ML-DSA: one parameter set is not another, a signature has one length, and clients have none of them", async () => {
  for (const alg of mlDsaAlgs) {
    assert.equal(isSigningAlg(alg), false, "what clients sign with");
    const token = await tokenOf(alg);
    const [header, body, signature = ""] = token.split(".");
    const bytes = Buffer.from(signature, "base64url");
    assert.equal(bytes.length, mlDsaSizes[alg].signature);
    for (const other of algorithms.filter((one) => one !== alg)) {
      assert.equal(accepts(token, other), false, `${alg} as ${other}`);
      assert.equal(verifyJws(token, keyOf(alg, pairs[other].publicKey), atJwt), undefined);
    }
    const renamed = segment({ alg: alg === "ML-DSA-44" ? "ML-DSA-65" : "ML-DSA-44", typ: "at+jwt" });
    assert.equal(accepts(`${renamed}.${body}.${signature}`, alg), false);
    for (const wrong of [bytes.subarray(1), Buffer.concat([bytes, Buffer.of(0)]), Buffer.alloc(bytes.length)])
      assert.equal(accepts(`${header}.${body}.${wrong.toString("base64url")}`, alg), false);
    const changed = Buffer.from(bytes);
    changed[9] = (changed[9] ?? 0) ^ 1;
    assert.equal(accepts(`${header}.${body}.${changed.toString("base64url")}`, alg), false);
    await assert.rejects(
      signJws({ alg, kid: "k1", typ: "at+jwt", privateKey: ec.privateKey, payload }),
      TypeError,
    );
  }
});

test("ignores a key embedded in the token", () => {
  const attacker = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const jwk = attacker.publicKey.export({ format: "jwk" });
  const header = {
    alg: "ES256",
    typ: "at+jwt",
    kid: "k1",
    jwk,
    jku: "https://evil.example/jwks",
    x5u: "https://evil.example",
    x5c: [],
  };
  assert.equal(accepts(forge(header, segment(payload), attacker.privateKey)), false);
  assert.equal(accepts(forge(header)), true);
});

test("rejects every critical extension (RFC 7515 §4.1.11)", () => {
  for (const crit of [["exp"], ["b64"], [], null])
    assert.equal(accepts(forge({ alg: "ES256", typ: "at+jwt", crit })), false);
});

test("rejects another typ, compared as a media type", () => {
  const of = (typ: unknown, expected: readonly (string | undefined)[]) =>
    verifyJws(forge({ alg: "ES256", typ }), keyOf("ES256"), { typ: expected }) !== undefined;
  for (const typ of ["at+jwt", "AT+JWT", "application/at+jwt"]) assert.equal(of(typ, ["at+jwt"]), true, typ);
  for (const typ of [
    "JWT",
    "logout+jwt",
    "at+jwt ",
    "application/application/at+jwt",
    "",
    undefined,
    null,
    1,
  ]) {
    assert.equal(of(typ, ["at+jwt"]), false, String(typ));
  }
  assert.equal(of(undefined, ["JWT", undefined]), true);
  assert.equal(of("JWT", ["JWT", undefined]), true);
  assert.equal(of("at+jwt", ["JWT", undefined]), false);
  assert.equal(of("at+jwt", []), false);
});

test("looks keys up by kid and algorithm, and rejects a kid that is not a string", () => {
  const asked: unknown[] = [];
  const resolve = (kid: unknown, alg: unknown) => void asked.push([kid, alg]);
  for (const kid of ["k1", undefined, 1, null, { a: 1 }])
    verifyJws(forge({ alg: "ES256", typ: "at+jwt", kid }), resolve, atJwt);
  assert.deepEqual(asked, [
    ["k1", "ES256"],
    [undefined, "ES256"],
  ]);
});

test("rejects DER, truncated, longer, empty and all-zero signatures", async () => {
  const [header, body, signature = ""] = (await tokenOf("ES256")).split(".");
  const bytes = Buffer.from(signature, "base64url");
  const der = sign("sha256", Buffer.from(`${header}.${body}`), ec.privateKey);
  const wrong = [
    der,
    bytes.subarray(0, 63),
    Buffer.concat([bytes, Buffer.alloc(1)]),
    Buffer.alloc(0),
    Buffer.alloc(64),
  ];
  for (const other of wrong) assert.equal(accepts(`${header}.${body}.${other.toString("base64url")}`), false);
});

test("PS256 requires a salt as long as the digest (RFC 7518 §3.5)", () => {
  const input = `${segment({ alg: "PS256", typ: "at+jwt" })}.${segment(payload)}`;
  const withSalt = (saltLength: number) =>
    `${input}.${sign("sha256", Buffer.from(input), { key: rsa.privateKey, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength }).toString("base64url")}`;
  assert.equal(accepts(withSalt(32), "PS256"), true);
  for (const length of [0, 20, 64]) assert.equal(accepts(withSalt(length), "PS256"), false);
});

test("rejects non-canonical encodings: extra characters, padding, white space and another alphabet", async () => {
  for (const alg of ["ES256", "EdDSA"] as const) {
    const token = await tokenOf(alg);
    for (let index = 0; index < token.length; index++) {
      const character = String.fromCharCode(token.charCodeAt(index) ^ 1);
      const changed = token.slice(0, index) + character + token.slice(index + 1);
      assert.equal(accepts(changed, alg), false, `character ${index}`);
    }
    // U+0141 is an A to everybody who keeps only the low byte of a character.
    for (const lookalike of token.matchAll(/A/g)) {
      assert.equal(
        accepts(`${token.slice(0, lookalike.index)}\u0141${token.slice(lookalike.index + 1)}`, alg),
        false,
      );
    }
    for (const insert of ["=", "==", " ", "\n", "+", "/", ".", "é", "\0"]) {
      for (let part = 0; part < 3; part++) {
        const changed = token.split(".").with(part, `${token.split(".")[part]}${insert}`);
        assert.equal(
          accepts(changed.join("."), alg),
          false,
          `${JSON.stringify(insert)} after segment ${part}`,
        );
      }
    }
  }
});

test("a token has three segments and at most 16 KiB", async () => {
  const token = await tokenOf("ES256");
  const [header, body] = token.split(".");
  for (const text of [
    "",
    ".",
    "..",
    "...",
    `${header}.${body}`,
    `${token}.`,
    `${token}.a`,
    `${token}.a.b`,
    `.${token}`,
  ]) {
    assert.equal(accepts(text), false, text);
    assert.equal(decodeJwsUnverified(text), undefined, text);
  }
  const sized = (length: number) =>
    forge({ alg: "ES256", typ: "at+jwt" }, segment({ pad: "a".repeat(length) }));
  assert.equal(accepts(sized(12_000)), true);
  assert.equal(accepts(sized(12_500)), false);
});

test("header and payload are JSON objects in UTF-8", () => {
  for (const value of [[], "text", 1, null, true])
    assert.equal(accepts(forge({ alg: "ES256", typ: "at+jwt" }, segment(value))), false);
  for (const bytes of [
    [0x7b],
    [0xff],
    [0xef, 0xbb, 0xbf, 0x7b, 0x7d],
    [...Buffer.from('{"a":"'), 0xff, ...Buffer.from('"}')],
  ]) {
    assert.equal(
      accepts(forge({ alg: "ES256", typ: "at+jwt" }, Buffer.from(bytes).toString("base64url"))),
      false,
    );
  }
  for (const header of [[], [{ alg: "ES256", typ: "at+jwt" }]]) assert.equal(accepts(forge(header)), false);
});

test("never throws while verifying or decoding any text", () => {
  const json = fc.json().map((text) => Buffer.from(text).toString("base64url"));
  const header = fc.constant(segment({ alg: "ES256", typ: "at+jwt" }));
  const part = fc.oneof(json, header, anyText, fc.base64String());
  fc.assert(
    fc.property(fc.array(part, { minLength: 1, maxLength: 4 }), (parts) => {
      assert.equal(accepts(parts.join(".")), false);
      decodeJwsUnverified(parts.join("."));
    }),
    { numRuns: 500 },
  );
});

test("decodes a token without verifying it", () => {
  const token = `${segment({ alg: "none" })}.${segment(payload)}.AA`;
  assert.deepEqual(decodeJwsUnverified(token), { header: { alg: "none" }, payload });
});
