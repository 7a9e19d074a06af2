/** What an outside reader makes of the certificates: openssl in its strictest form (device-identity.md §2). */
import assert from "node:assert/strict";
import {
  createHash,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  X509Certificate,
} from "node:crypto";
import { after, before, test } from "node:test";
import { type Openssl, openssl } from "../../testing/openssl.ts";
import type { Attestation } from "../devices/device.ts";
import { createEncryption } from "../encryption/encryption.ts";
import { keyRing } from "../encryption/key-ring.ts";
import { type DeviceCertificateInput, issueDeviceCertificate } from "./certificates.ts";
import { CA_LIFETIME_MS, CERTIFICATE_LIFETIME_MS } from "./generation.ts";
import { createGeneration, type OpenGeneration } from "./rotation.ts";
import { newSerial, oid, serialNumber, x509Time } from "./x509.ts";

const ORG = "01998d6e-0000-7000-8000-000000000001";
const DEVICE = "01998d6e-0000-7000-8000-0000000000d1";
const BASE = "https://id.example";
const NOW = Date.now();

let ssl: Openssl;
let ca: OpenGeneration;
before(async () => {
  ssl = await openssl();
  ca = await generationAt(NOW);
  await ssl.write("ca.pem", ca.certificatePem);
});
after(() => ssl.remove());

const encryption = createEncryption(keyRing(Buffer.alloc(32, 1)));
const generationAt = async (now: number) =>
  (await createGeneration({ clock: () => now, encryption }, ORG, 3)).open;
const newKey = () => generateKeyPairSync("ec", { namedCurve: "P-256" }).publicKey;
const spkiOf = (key: KeyObject) => key.export({ format: "der", type: "spki" });
const made = (more: Partial<DeviceCertificateInput> = {}, issuer = ca) =>
  issueDeviceCertificate(issuer, {
    baseUrl: BASE,
    deviceId: DEVICE,
    spki: spkiOf(newKey()),
    attestation: "none",
    now: NOW,
    ...more,
  });
const textOf = async (pem: string) => {
  await ssl.write("shown.pem", pem);
  return (await ssl("x509", "-in", "@shown.pem", "-noout", "-text", "-nameopt", "sep_comma_plus_space")).text;
};
const verify = async (pem: string, ...more: string[]) => {
  await ssl.write("device.pem", pem);
  return ssl("verify", "-x509_strict", ...more, "-CAfile", "@ca.pem", "@device.pem");
};

test("openssl accepts certificates of every key type for client authentication only", async () => {
  const keys = {
    "P-256": newKey(),
    "P-384": generateKeyPairSync("ec", { namedCurve: "P-384" }).publicKey,
    RSA: generateKeyPairSync("rsa", { modulusLength: 2048 }).publicKey,
    Ed25519: generateKeyPairSync("ed25519").publicKey,
  };
  for (const [name, key] of Object.entries(keys)) {
    for (const attestation of ["none", "tpm"] satisfies Attestation[]) {
      const { pem, der } = await made({ spki: spkiOf(key), attestation });
      const { code, text } = await verify(pem, "-purpose", "sslclient", "-check_ss_sig");
      assert.equal(code, 0, `${name} ${attestation}: ${text}`);
      assert.deepEqual(createPublicKey(pem).export({ format: "jwk" }), key.export({ format: "jwk" }), name);
      assert.ok(new X509Certificate(pem).raw.equals(der));
    }
    const { pem } = await made({ spki: spkiOf(key) });
    assert.notEqual((await verify(pem, "-purpose", "sslserver")).code, 0, name);
  }
});

test("a device certificate has exactly the specified content", async () => {
  const certificate = await made();
  const text = await textOf(certificate.pem);
  const own = `${BASE}/oauth/${ORG}/devices`;
  for (const line of [
    "Version: 3 (0x2)",
    "Signature Algorithm: ecdsa-with-SHA256",
    `Issuer: O=${ORG}, CN=Device CA 3`,
    `Subject: O=${ORG}, CN=${DEVICE}`,
    "X509v3 Basic Constraints: critical\n                CA:FALSE\n",
    "X509v3 Key Usage: critical\n                Digital Signature\n",
    "X509v3 Extended Key Usage: \n                TLS Web Client Authentication\n",
    `X509v3 Subject Alternative Name: \n                URI:${own}/${DEVICE}\n`,
    `X509v3 CRL Distribution Points: \n                Full Name:\n                  URI:${own}/ca.crl?generation=3\n`,
    `Authority Information Access: \n                OCSP - URI:${own}/ocsp\n`,
  ])
    assert.ok(text.includes(line), `${line} in ${text}`);
  assert.equal(text.match(/X509v3|Authority Information/g)?.length, 9, "eight extensions under one heading");
  const { validFromDate, validToDate, serialNumber: serial } = new X509Certificate(certificate.der);
  assert.deepEqual(
    [validFromDate.getTime(), validToDate.getTime()],
    [certificate.notBefore, certificate.notAfter],
  );
  assert.equal(certificate.notBefore, Math.floor(NOW / 1000) * 1000 - 300_000);
  assert.equal(certificate.notAfter, Math.floor(NOW / 1000) * 1000 + 90 * 86_400_000);
  assert.equal(serial.toLowerCase(), certificate.serial);
  const digest = createHash("sha256").update(certificate.der).digest("base64url");
  assert.equal(certificate.fingerprint, digest);
});

test("only attested keys have the TCG policies", async () => {
  const policies = /Policy: 2\.23\.133\.11\.1\.1\n +Policy: 2\.23\.133\.11\.1\.2/;
  assert.match(await textOf((await made({ attestation: "tpm" })).pem), policies);
  assert.doesNotMatch(await textOf((await made()).pem), /Policy|2\.23\.133/);
});

test("the CA is a ten-year root with path length 0", async () => {
  const text = await textOf(ca.certificatePem);
  for (const line of [
    `Issuer: O=${ORG}, CN=Device CA 3`,
    `Subject: O=${ORG}, CN=Device CA 3`,
    "X509v3 Basic Constraints: critical\n                CA:TRUE, pathlen:0\n",
    "X509v3 Key Usage: critical\n                Digital Signature, Certificate Sign, CRL Sign\n",
  ])
    assert.ok(text.includes(line), `${line} in ${text}`);
  const keyId = /X509v3 Subject Key Identifier: \n +([0-9A-F:]{59})/.exec(text)?.[1];
  assert.ok(
    keyId &&
      (await textOf((await made()).pem)).includes(`Authority Key Identifier: \n                ${keyId}\n`),
  );
  assert.equal(ca.notAfter - ca.notBefore, CA_LIFETIME_MS + 300_000);
  assert.ok(ca.key.publicKey.asymmetricKeyDetails?.namedCurve === "prime256v1");
});

test("device certificates stay within the validity of their CA", async () => {
  const late = await made({ now: ca.notAfter - 1_000 });
  assert.equal(late.notAfter, ca.notAfter);
  assert.ok(CERTIFICATE_LIFETIME_MS > 1_000);
  const early = await made({ now: ca.notBefore - 60_000 });
  assert.equal(early.notBefore, ca.notBefore);
});

test("every program shows a serial number with the same 32 digits: none begins with a zero byte", () => {
  const firstBytes = new Set(Array.from({ length: 10_000 }, () => newSerial().slice(0, 2)));
  assert.ok(!firstBytes.has("00"));
  assert.ok(firstBytes.has("01") && firstBytes.has("ff"));
});

test("serial numbers have 128 random bits in canonical encoding", async () => {
  const serials = new Set<string>();
  for (let count = 0; count < 50; count++) serials.add((await made()).serial);
  assert.equal(serials.size, 50);
  for (const serial of serials) assert.match(serial, /^[0-9a-f]{32}$/);
  assert.ok(
    [...serials].some((serial) => serial >= "8"),
    "all bits are used",
  );
  const der = (serial: string) => serialNumber(serial.padStart(32, "0")).toString("hex");
  assert.equal(der("ff".repeat(16)), `021100${"ff".repeat(16)}`);
  assert.equal(der("7f".repeat(16)), `0210${"7f".repeat(16)}`);
  assert.equal(der("80"), "02020080");
  assert.equal(der("7f"), "02017f");
});

test("times are UTCTime until 2049 and GeneralizedTime from 2050 on; openssl reads both", async () => {
  assert.equal(x509Time(Date.UTC(2049, 11, 31, 23, 59, 59)).toString("latin1"), "\x17\x0d491231235959Z");
  assert.equal(x509Time(Date.UTC(2050, 0, 1)).toString("latin1"), "\x18\x0f20500101000000Z");
  const later = await generationAt(Date.UTC(2045, 5, 1));
  assert.match(await textOf(later.certificatePem), /Not After : Jun {2}1 00:00:00 2055 GMT/);
});

test("encodes object identifiers as openssl does", async () => {
  for (const dotted of [
    "2.5.4.3",
    "1.2.840.10045.4.3.2",
    "2.23.133.11.1.2",
    "1.3.6.1.5.5.7.48.1.2",
    "2.16.840.1.101.3.4.2.1",
  ]) {
    await ssl.write("oid.der", oid(dotted));
    const { text } = await ssl("asn1parse", "-inform", "DER", "-in", "@oid.der");
    const shown = text.split(":").at(-1)?.trim() ?? "";
    const { text: numbers } = await ssl("asn1parse", "-genstr", `OID:${dotted}`);
    assert.equal(numbers.split(":").at(-1)?.trim(), shown, dotted);
  }
});

test("rejects anything but a public key", async () => {
  for (const spki of [
    Buffer.alloc(0),
    Buffer.from("3000", "hex"),
    Buffer.from("a key"),
    Buffer.alloc(300, 0x30),
  ])
    await assert.rejects(made({ spki }), { name: "DerError" });
});
