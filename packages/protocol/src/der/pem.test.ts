import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { test } from "node:test";
import { testCertificate } from "../testing/test-certificate.ts";
import { DerError } from "./der.ts";
import {
  base64Of,
  base64urlOf,
  bytesOfBase64,
  certificateInPem,
  pemOfCertificate,
  publicKeyInPem,
} from "./pem.ts";

const { der, pem } = testCertificate({ subject: "Root" });

test("reads and writes the one certificate of a text, with comments and any line breaks", () => {
  for (const text of [
    pem,
    `Subject: Root\n${pem}\nmore`,
    pem.replaceAll("\n", "\r\n"),
    pem.replaceAll("\n", ""),
  ])
    assert.deepEqual(Buffer.from(certificateInPem(text)), der);
  assert.equal(pemOfCertificate(der), pem);
});

test("rejects no block, two blocks, a truncated one, another label and invalid base64", () => {
  const [head = ""] = pem.split("\n");
  const body = der.toString("base64");
  for (const text of [
    "",
    body,
    pem + pem,
    pem.replace("-----END CERTIFICATE-----", ""),
    `-----END CERTIFICATE-----${pem.slice(0, -27)}`,
    pem.replaceAll("CERTIFICATE", "TRUSTED CERTIFICATE"),
    pem.replace(head, `${head}\nProc-Type: 4,ENCRYPTED\n`),
    pem.replace(body.slice(0, 4), "####"),
    `${head}${"A".repeat(70_000)}-----END CERTIFICATE-----`,
  ])
    assert.throws(() => certificateInPem(text), DerError, text.slice(0, 60));
});

test("reads a public key block, and never a private key", () => {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  const spki = publicKey.export({ format: "der", type: "spki" });
  assert.deepEqual(
    Buffer.from(publicKeyInPem(publicKey.export({ format: "pem", type: "spki" }).toString())),
    spki,
  );
  const secret = privateKey.export({ format: "pem", type: "pkcs8" }).toString();
  for (const text of [secret, pem]) assert.throws(() => publicKeyInPem(text), DerError);
});

test("accepts canonical base64 and base64url only", () => {
  for (let length = 0; length < 40; length++) {
    const bytes = Buffer.from(Array.from({ length }, (_, index) => (index * 89 + length * 37) & 0xff));
    assert.equal(base64Of(bytes), bytes.toString("base64"));
    assert.equal(base64urlOf(bytes), bytes.toString("base64url"));
    assert.deepEqual(Buffer.from(bytesOfBase64(bytes.toString("base64"))), bytes);
  }
  for (const text of ["A", "AA", "AA=", "AB==", "AAA", "AAB=", "AA==\n", " AAAA", "AA-_", "====", "AAAA===="])
    assert.throws(() => bytesOfBase64(text), DerError, text);
});
