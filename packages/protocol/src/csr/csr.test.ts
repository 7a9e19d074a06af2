import assert from "node:assert/strict";
import { createPublicKey, generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";
import { test } from "node:test";
import fc from "fast-check";
import {
  derBitString,
  derInteger,
  derName,
  derNull,
  derOctetString,
  derOid,
  derSequence,
  derText,
  derValue,
} from "../der/der-writer.ts";
import { sha256Base64url } from "../hash.ts";
import { mutationsOf } from "../testing/mutations.ts";
import { CsrError, type CsrErrorCode, MAX_CSR_LENGTH, readCsr } from "./csr.ts";
import { csrPem, makeKeyCsr } from "./make-csr.ts";

const isWhole = process.env["SIGNET_TEST_WHOLE"] === "1";

const ec = (namedCurve: string) => generateKeyPairSync("ec", { namedCurve }).privateKey;
const rsa = (modulusLength: number) => generateKeyPairSync("rsa", { modulusLength }).privateKey;
const p256 = ec("P-256");
const rsa2048 = rsa(2048);
const ed25519 = generateKeyPairSync("ed25519").privateKey;
const accepted: ReadonlyArray<readonly [string, KeyObject]> = [
  ["P-256", p256],
  ["P-384", ec("P-384")],
  ["RSA of 2048 bits", rsa2048],
  ["Ed25519", ed25519],
];

const spkiOf = (key: KeyObject): Buffer => createPublicKey(key).export({ format: "der", type: "spki" });
const text = (der: Buffer): string => der.toString("base64");

const ECDSA_SHA256 = derSequence(derOid("2a8648ce3d040302"));
const RSA_SHA256 = derSequence(derOid("2a864886f70d01010b"), derNull);

interface Parts {
  readonly key?: KeyObject;
  readonly spki?: Buffer;
  readonly version?: Buffer;
  readonly subject?: Buffer;
  readonly attributes?: Buffer;
  readonly algorithm?: Buffer;
  readonly digest?: string | null;
  readonly more?: Buffer;
  readonly signature?: (info: Buffer) => Buffer;
}

/** A request in which one thing is otherwise. */
function csrWith({ key = p256, digest = "sha256", ...parts }: Parts): Buffer {
  const info = derSequence(
    parts.version ?? derInteger(0),
    parts.subject ?? derName("device"),
    parts.spki ?? spkiOf(key),
    parts.attributes ?? derValue(0xa0),
    ...(parts.more ? [parts.more] : []),
  );
  const signature = parts.signature?.(info) ?? derBitString(sign(digest, info, key));
  return derSequence(info, parts.algorithm ?? ECDSA_SHA256, signature);
}

function codeOf(sent: string): CsrErrorCode | "none" {
  try {
    readCsr(sent);
    return "none";
  } catch (error) {
    assert.ok(error instanceof CsrError, String(error));
    return error.code;
  }
}

test("parses requests of every key type, in PEM and in base64 with or without line breaks", async () => {
  for (const [what, key] of accepted) {
    const der = await makeKeyCsr(key);
    const spki = spkiOf(key);
    const pem = csrPem(der);
    const olderLabel = pem.replaceAll("CERTIFICATE REQUEST", "NEW CERTIFICATE REQUEST");
    for (const sent of [
      pem,
      olderLabel,
      `\r\n${pem.replaceAll("\n", "\r\n")}`,
      text(der),
      `${text(der)}\n`,
    ]) {
      const csr = readCsr(sent);
      assert.deepEqual(csr.der, der, what);
      assert.deepEqual(csr.spki, spki, what);
      assert.equal(csr.keyHash, sha256Base64url(spki), what);
      assert.ok(csr.publicKey.equals(createPublicKey(key)), what);
    }
  }
});

test("ignores subject, attributes and requested extensions", () => {
  const extensions = derSequence(
    derOid("2a864886f70d01090e"),
    derValue(
      0x31,
      derSequence(derSequence(derOid("551d13"), derOctetString(Buffer.from("30030101ff", "hex")))),
    ),
  );
  const challenge = derSequence(derOid("2a864886f70d010907"), derValue(0x31, derText("secret")));
  const attributes = derValue(0xa0, challenge, extensions);
  assert.equal(codeOf(text(csrWith({ subject: derName("root"), attributes }))), "none");
  assert.equal(codeOf(text(csrWith({ subject: derName() }))), "none");
});

test("rejects malformed requests", () => {
  const good = csrWith({});
  const certificate = csrPem(good).replaceAll("CERTIFICATE REQUEST", "CERTIFICATE");
  const unlike = csrPem(good).replace("BEGIN CERT", "BEGIN NEW CERT");
  const offCurve = Buffer.from(spkiOf(p256));
  offCurve.writeUInt8((offCurve.at(-1) ?? 0) ^ 1, offCurve.length - 1);
  for (const [what, sent] of [
    ["nothing", ""],
    ["blanks", " \n "],
    ["words", "not a request"],
    ["base64url", text(good).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")],
    ["base64 without its end", text(good).replace(/=+$/, "").slice(0, -1)],
    ["base64 with bits that say nothing", "MA=="],
    ["another label", certificate],
    ["two labels", unlike],
    ["two requests", csrPem(good) + csrPem(good)],
    ["words before it", `hello\n${csrPem(good)}`],
    ["a byte after it", text(Buffer.concat([good, Buffer.from([0])]))],
    ["a byte too few", text(good.subarray(0, -1))],
    ["an indefinite length", text(indefinite(good))],
    ["an inner indefinite length", text(csrWith({ subject: Buffer.from("30800000", "hex") }))],
    [
      "BER in what is read over",
      text(csrWith({ attributes: derValue(0xa0, Buffer.from("30800000", "hex")) })),
    ],
    ["one member more after the signature", text(derSequence(good.subarray(3), derNull))],
    ["another version", text(csrWith({ version: derInteger(1) }))],
    ["a version that is no number", text(csrWith({ version: derOctetString(Buffer.from([0])) }))],
    ["a subject that is none", text(csrWith({ subject: derText("device") }))],
    ["no attributes", text(csrWith({ attributes: Buffer.alloc(0) }))],
    ["attributes of another tag", text(csrWith({ attributes: derValue(0xa1) }))],
    ["one member more", text(csrWith({ more: derInteger(0) }))],
    ["a point that is not on the curve", text(csrWith({ spki: offCurve }))],
    ["a signature of odd bits", text(csrWith({ signature: oddSignature }))],
    ["a signature that is no bit string", text(csrWith({ signature: (info) => derOctetString(info) }))],
    ["a sequence alone", text(derSequence())],
    ["a key that is none", text(csrWith({ spki: derSequence(derText("key")) }))],
  ] as const)
    assert.equal(codeOf(sent), "csr_malformed", what);
});

const oddSignature = (info: Buffer): Buffer => derValue(0x03, Buffer.from([1]), sign("sha256", info, p256));

/** The same values, as BER may have them. */
const indefinite = (der: Buffer): Buffer =>
  Buffer.concat([Buffer.from([0x30, 0x80]), der.subarray(der[1] === 0x81 ? 3 : 4), Buffer.from([0, 0])]);

test("rejects more than 16 KiB unread", () => {
  assert.equal(codeOf("A".repeat(MAX_CSR_LENGTH + 1)), "csr_too_large");
  assert.equal(codeOf("A".repeat(MAX_CSR_LENGTH)), "csr_malformed");
  const long = csrWith({ attributes: derValue(0xa0, derOctetString(Buffer.alloc(13_000))) });
  assert.equal(codeOf(text(long)), "csr_too_large");
});

test("distinguishes weak keys from unsupported ones", () => {
  for (const bits of [1024, 2040])
    assert.equal(codeOf(text(csrWith({ spki: rsaSpki(bits, "010001") }))), "csr_key_weak", `${bits} bits`);
  for (const exponent of ["03", "010003", "0100000001"])
    assert.equal(codeOf(text(csrWith({ spki: rsaSpki(2048, exponent) }))), "csr_key_weak", `e = ${exponent}`);
});

test("rejects other key types and other encodings of supported ones", () => {
  const explicit = generateKeyPairSync("ec", { namedCurve: "P-256", paramEncoding: "explicit" }).privateKey;
  const pss = generateKeyPairSync("rsa-pss", { modulusLength: 2048 }).privateKey;
  const ed448 = generateKeyPairSync("ed448").privateKey;
  for (const [what, parts] of [
    ["secp256k1", { key: ec("secp256k1") }],
    ["P-224", { key: ec("P-224"), digest: "sha224" }],
    ["P-521", { key: ec("P-521") }],
    ["explicit parameters", { key: explicit }],
    ["a compressed point", { spki: compressed(spkiOf(p256)) }],
    ["a hybrid point", { spki: hybrid(spkiOf(p256)) }],
    ["the point of another curve's length", { spki: ofOtherCurve() }],
    ["RSASSA-PSS", { key: pss }],
    ["Ed448", { key: ed448, digest: null }],
    ["RSA of 4104 bits", { spki: rsaSpki(4104, "010001") }],
    ["RSA with a modulus that begins with zeros", { spki: rsaSpki(2048, "010001", "0000") }],
    ["RSA with a modulus that is negative", { spki: rsaSpki(2048, "010001", "") }],
    ["RSA without its NULL", { spki: withoutNull(spkiOf(rsa2048)) }],
    ["a parameter that Ed25519 has not", { spki: withNull(spkiOf(ed25519)) }],
  ] as ReadonlyArray<readonly [string, Parts]>)
    assert.equal(codeOf(text(csrWith(parts))), "csr_key_unsupported", what);
});

/** Of a modulus that nobody knows the factors of. @param sign hexadecimal: what is written before it */
function rsaSpki(bits: number, exponent: string, sign = "00"): Buffer {
  const modulus = randomBytes(bits / 8);
  modulus.writeUInt8((modulus[0] ?? 0) | 0x80, 0);
  const number = derValue(0x02, Buffer.from(sign, "hex"), modulus);
  const key = derSequence(number, derInteger(Buffer.from(exponent, "hex")));
  return derSequence(derSequence(derOid("2a864886f70d010101"), derNull), derBitString(key));
}

/** The point of P-256 where one of P-384 should be. */
function ofOtherCurve(): Buffer {
  const identifier = spkiOf(ec("P-384")).subarray(2, -97 - 3);
  return derSequence(identifier, derBitString(spkiOf(p256).subarray(-65)));
}

function compressed(spki: Buffer): Buffer {
  const point = spki.subarray(-65);
  const sign = 2 + ((point.at(-1) ?? 0) & 1);
  const identifier = spki.subarray(2, spki.length - 65 - 3);
  return derSequence(identifier, derBitString(Buffer.concat([Buffer.from([sign]), point.subarray(1, 33)])));
}

/** In full, and with the sign of y in its first byte all the same (X9.62). */
function hybrid(spki: Buffer): Buffer {
  const copy = Buffer.from(spki);
  copy.writeUInt8(6 + ((spki.at(-1) ?? 0) & 1), spki.length - 65);
  return copy;
}

const withoutNull = (spki: Buffer) =>
  derSequence(derSequence(derOid("2a864886f70d010101")), spki.subarray(19));
const withNull = (spki: Buffer) => derSequence(derSequence(derOid("2b6570"), derNull), spki.subarray(9));

test("rejects an Ed25519 key of low order", () => {
  // The neutral point, R the same, S = 0: OpenSSL takes that for a signature of whatever is asked about.
  const identifier = derSequence(derOid("2b6570"));
  const neutral = Buffer.concat([Buffer.from([1]), Buffer.alloc(31)]);
  const signature = () => derBitString(Buffer.concat([neutral, Buffer.alloc(32)]));
  for (const point of [
    neutral,
    Buffer.alloc(32),
    Buffer.from(`ec${"ff".repeat(31)}`, "hex"),
    Buffer.from("c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa", "hex"),
  ]) {
    const spki = derSequence(identifier, derBitString(point));
    assert.equal(codeOf(text(csrWith({ spki, algorithm: identifier, signature }))), "csr_key_weak");
  }
});

test("requires a signature algorithm that fits the key, parameters included", () => {
  const sha1 = derSequence(derOid("2a8648ce3d0401"));
  for (const [what, parts] of [
    ["ECDSA with SHA-1", { algorithm: sha1, digest: "sha1" }],
    ["ECDSA with SHA-224", { algorithm: derSequence(derOid("2a8648ce3d040301")), digest: "sha224" }],
    ["ECDSA with parameters", { algorithm: derSequence(derOid("2a8648ce3d040302"), derNull) }],
    ["RSA's algorithm for an EC key", { algorithm: RSA_SHA256 }],
    ["ECDSA for an RSA key", { key: rsa2048 }],
    ["RSA without parameters", { key: rsa2048, algorithm: derSequence(derOid("2a864886f70d01010b")) }],
    [
      "RSA with others",
      { key: rsa2048, algorithm: derSequence(derOid("2a864886f70d01010b"), derInteger(5)) },
    ],
    [
      "RSA with SHA-1",
      { key: rsa2048, algorithm: derSequence(derOid("2a864886f70d010105"), derNull), digest: "sha1" },
    ],
    ["RSA with MD5", { key: rsa2048, algorithm: derSequence(derOid("2a864886f70d010104"), derNull) }],
    ["RSASSA-PSS", { key: rsa2048, algorithm: derSequence(derOid("2a864886f70d01010a"), derSequence()) }],
    [
      "Ed25519 with parameters",
      { key: ed25519, algorithm: derSequence(derOid("2b6570"), derNull), digest: null },
    ],
    ["none", { algorithm: derSequence() }],
  ] as ReadonlyArray<readonly [string, Parts]>)
    assert.equal(codeOf(text(csrWith(parts))), "csr_signature_alg", what);
});

test("rejects a request signed with another key", () => {
  const foreign = (info: Buffer) => derBitString(sign("sha256", info, ec("P-256")));
  const ofOther = (info: Buffer) => derBitString(sign("sha256", Buffer.concat([info, info]), p256));
  for (const [what, parts] of [
    ["another key's signature", { signature: foreign }],
    ["a signature over something else", { signature: ofOther }],
    ["another digest than it says", { digest: "sha384" }],
    ["no signature", { signature: () => derBitString(Buffer.alloc(0)) }],
    ["bytes", { signature: () => derBitString(randomBytes(70)) }],
    ["a raw signature", { signature: rawSignature }],
    [
      "RSA, too short",
      { key: rsa2048, algorithm: RSA_SHA256, signature: () => derBitString(randomBytes(64)) },
    ],
  ] as ReadonlyArray<readonly [string, Parts]>)
    assert.equal(codeOf(text(csrWith(parts))), "csr_signature", what);
});

const rawSignature = (info: Buffer) =>
  derBitString(sign("sha256", info, { key: p256, dsaEncoding: "ieee-p1363" }));

test("rejects a request with any bit flipped, with a named error", async () => {
  const steps: Readonly<Record<string, number>> = { "P-384": 5, "RSA of 2048 bits": 11 };
  for (const [what, key] of accepted) {
    const step = isWhole ? 1 : (steps[what] ?? 1);
    for (const mutated of mutationsOf(await makeKeyCsr(key), step))
      assert.notEqual(codeOf(text(mutated)), "none", what);
  }
});

test("parses or rejects any text, and never throws anything else", async () => {
  const numRuns = isWhole ? 50_000 : 1_500;
  const good = await makeKeyCsr(p256);
  const someBytes = fc.uint8Array({ maxLength: 200 });
  const anyText = fc.oneof(
    fc.string(),
    fc.base64String(),
    someBytes.map((bytes) => text(Buffer.from(bytes))),
    someBytes.map((bytes) => csrPem(derSequence(bytes))),
    // Pieces of a good one, with something else between.
    fc
      .tuple(fc.nat(good.length), fc.nat(good.length), someBytes)
      .map(([end, start, bytes]) =>
        text(Buffer.concat([good.subarray(0, end), Buffer.from(bytes), good.subarray(start)])),
      ),
  );
  fc.assert(
    fc.property(anyText, (sent) => {
      const code = codeOf(sent);
      if (code === "none") assert.deepEqual(readCsr(sent).der, good);
    }),
    { numRuns, seed: 6 },
  );
});
