import assert from "node:assert/strict";
import { createPublicKey, ECDH, generateKeyPairSync, type KeyObject } from "node:crypto";
import { test } from "node:test";
import { readCertificate } from "../certificates/certificate.ts";
import { DerError } from "../der/der.ts";
import { mutationsOf } from "../testing/mutations.ts";
import { type SoftEkKind, softEk } from "../testing/soft-tpm.ts";
import {
  extension,
  newEcKey,
  type TestCertificate,
  type TestCertificateInput,
  testCertificate,
} from "../testing/test-certificate.ts";
import { TpmError } from "./buffer-reader.ts";
import { ekFault, ekPathFault, readEkCertificate, unwrapEkCertificate } from "./ek-certificate.ts";

const hex = (text: string) => Buffer.from(text.replaceAll(" ", ""), "hex");
const publicOf = (key: KeyObject) => createPublicKey(key.export({ format: "pem", type: "pkcs8" }));
const DAY_MS = 86_400_000;

/** 2.23.133.8.1; clientAuth. */
const EK_USAGE = hex("3007 0605 6781050801");
const CLIENT_USAGE = hex("300a 0608 2b06010505070302");
/** As the TCG's profile wants it where the subject is empty: manufacturer, model and version in a directoryName. */
const TPM_NAME = hex("3018 a416 3014 3112 3010 0605 6781050201 0c07 69643a49424d00");

const ekKey = softEk("p256");
const ekOf = (issuer: TestCertificate, more: Partial<TestCertificateInput> = {}) =>
  testCertificate({
    subject: "EK",
    issuer,
    publicKey: publicOf(ekKey),
    keyUsage: [4],
    more: [extension("551d25", EK_USAGE), extension("551d11", TPM_NAME, true)],
    ...more,
  });
const root = testCertificate({ subject: "Vendor root", isCa: true });
const caOf = (issuer: TestCertificate, subject: string, more: Partial<TestCertificateInput> = {}) =>
  testCertificate({ subject, isCa: true, issuer, ...more });
const issuing = caOf(root, "Vendor issuing");

const pathFault = (
  ek: TestCertificate,
  others: readonly TestCertificate[],
  anchors: readonly TestCertificate[] = [root],
) => {
  const read = ({ der }: TestCertificate) => readCertificate(der);
  return ekPathFault({ ek: read(ek), others: others.map(read), anchors: anchors.map(read), now: Date.now() });
};
const fault = (certificate: TestCertificate) => ekFault(readEkCertificate(certificate.der));

test("reads endorsement key certificates of every key type", () => {
  for (const [kind, bit] of [
    ["rsa2048", 2],
    ["p256", 4],
    ["p384", 4],
  ] as ReadonlyArray<[SoftEkKind, number]>) {
    const publicKey = publicOf(softEk(kind));
    const read = readEkCertificate(ekOf(root, { publicKey, keyUsage: [bit] }).der);
    assert.equal(ekFault(read), undefined, kind);
    assert.deepEqual(read.spki, publicKey.export({ format: "der", type: "spki" }));
    assert.match(fault(ekOf(root, { publicKey, keyUsage: [0] })) ?? "", /key usage/, kind);
    assert.match(fault(ekOf(root, { publicKey, keyUsage: null })) ?? "", /key usage/, kind);
  }
});

test("rejects CA certificates and those for other purposes", () => {
  assert.match(fault(ekOf(root, { isCa: true, keyUsage: [4, 5] })) ?? "", /authority/);
  assert.match(fault(ekOf(root, { more: [extension("551d25", CLIENT_USAGE)] })) ?? "", /extended key usage/);
  assert.equal(fault(ekOf(root, { more: [] })), undefined, "without the extension");
});

test("distinguishes an unsupported key from a malformed certificate", () => {
  const { publicKey } = generateKeyPairSync("ec", { namedCurve: "P-521" });
  assert.throws(
    () => readEkCertificate(ekOf(root, { publicKey }).der),
    (error) => error instanceof TpmError && error.fault === "unsupported",
  );
  assert.throws(() => readEkCertificate(Buffer.from("not a certificate")), DerError);
});

test("reads another encoding of the point as the same key", () => {
  const whole = publicOf(ekKey).export({ format: "der", type: "spki" });
  const point = ECDH.convertKey(whole.subarray(-65), "prime256v1", undefined, undefined, "compressed");
  const length = whole.length - 32;
  const head = whole.subarray(0, -66);
  const der = Buffer.concat([head, Buffer.from([0]), Buffer.from(point)]);
  // The lengths of the sequence and of the bit string.
  der[1] = length - 2;
  der[head.length - 1] = point.length + 1;
  const compressed = createPublicKey({ key: der, format: "der", type: "spki" });
  const read = readEkCertificate(ekOf(root, { publicKey: compressed }).der);
  assert.notDeepEqual(read.publicKey.export({ format: "der", type: "spki" }), whole);
  assert.deepEqual(read.spki, whole);
});

test("strips only the padding of a TPM's NV memory", () => {
  const { der } = ekOf(root);
  const size = Buffer.alloc(2);
  size.writeUInt16BE(der.length + 2);
  const header = Buffer.concat([hex("100100"), size]);
  for (const stored of [
    der,
    Buffer.concat([der, Buffer.alloc(100, 0xff)]),
    Buffer.concat([der, Buffer.alloc(100)]),
    Buffer.concat([header, hex("1002"), der, Buffer.alloc(10, 0xff)]),
    Buffer.concat([header, der]),
  ])
    assert.deepEqual(unwrapEkCertificate(stored), der);
  for (const stored of [
    Buffer.concat([der, Buffer.from([0, 0xff])]),
    Buffer.concat([der, Buffer.from("more")]),
    Buffer.alloc(0),
    Buffer.from([0x10, 0x01, 0x00]),
    der.subarray(0, -1),
  ])
    assert.throws(() => unwrapEkCertificate(stored), DerError);
});

test("builds a path to a trusted certificate from intermediates in any order", () => {
  assert.equal(pathFault(ekOf(root), []), undefined);
  const deeper = caOf(issuing, "Deeper");
  assert.equal(pathFault(ekOf(deeper), [issuing, deeper]), undefined);
  assert.equal(pathFault(ekOf(deeper), [deeper, issuing]), undefined);
  assert.equal(pathFault(ekOf(deeper), [deeper, issuing, root]), undefined, "with the root");
  assert.equal(pathFault(ekOf(issuing), [], [issuing]), undefined, "a trusted one need not be a root");
  for (const [what, ek, others, anchors] of [
    ["an authority is missing", ekOf(deeper), [deeper], [root]],
    ["nobody is trusted", ekOf(issuing), [issuing, root], []],
    [
      "another root of the same name",
      ekOf(issuing),
      [issuing],
      [testCertificate({ subject: "Vendor root", isCa: true })],
    ],
    ["a forged signature", ekOf(issuing, { forger: newEcKey() }), [issuing], [root]],
    ["an issuer that is no authority", ekOf(testCertificate({ subject: "No CA", issuer: root })), [], [root]],
  ] as const)
    assert.match(pathFault(ek, others, anchors) ?? "", /no path/, what);
});

test("accepts at most five certificates, the root included", () => {
  const chain: TestCertificate[] = [];
  for (const subject of ["One", "Two", "Three", "Four"]) chain.push(caOf(chain.at(-1) ?? root, subject));
  const [, , three, four] = chain;
  assert.ok(three && four);
  assert.equal(pathFault(ekOf(three), chain.slice(0, 3)), undefined);
  assert.match(pathFault(ekOf(four), chain) ?? "", /no path/);
});

test("checks dates, path length, usage and critical extensions of every certificate", () => {
  const past = { validFrom: new Date(Date.now() - 2 * DAY_MS), validTo: new Date(Date.now() - DAY_MS) };
  assert.match(pathFault(ekOf(root, past), []) ?? "", /expired/);
  const unknown = extension("2a03", hex("0500"), true);
  assert.match(pathFault(ekOf(root, { more: [unknown] }), []) ?? "", /critical/);
  const short = caOf(root, "Short", { pathLength: 0 });
  for (const [what, between] of [
    ["expired", [caOf(root, "CA", past)]],
    ["not for certificates", [caOf(root, "CA", { keyUsage: [0] })]],
    [
      "for something else, critically",
      [caOf(root, "CA", { more: [extension("551d25", CLIENT_USAGE, true)] })],
    ],
    ["an unknown critical extension", [caOf(root, "CA", { more: [unknown] })]],
    ["signed with SHA-1", [caOf(root, "CA", { digest: "sha1" })]],
    ["below a path length of 0", [caOf(short, "CA"), short]],
  ] as const)
    assert.match(pathFault(ekOf(between[0]), between) ?? "", /no path/, what);
  const policies = extension("551d20", hex("3006 3004 0602 2a03"), true);
  const good = caOf(root, "CA", { more: [policies, extension("551d25", EK_USAGE, true)] });
  assert.equal(
    pathFault(ekOf(good, { more: [extension("551d25", EK_USAGE, true), policies] }), [good]),
    undefined,
  );
});

test("rejects any flipped bit in a certificate with a parse error", () => {
  const { der } = ekOf(root);
  const anchor = readCertificate(root.der);
  for (const mutation of mutationsOf(der, 3)) {
    let read: ReturnType<typeof readEkCertificate>;
    try {
      read = readEkCertificate(mutation);
      if (ekFault(read) !== undefined) continue;
    } catch (error) {
      assert.ok(error instanceof Error);
      continue;
    }
    const path = { ek: read.certificate, others: [], anchors: [anchor], now: Date.now() };
    assert.notEqual(ekPathFault(path), undefined);
  }
});

test("terminates on circular certificate chains", () => {
  const a = newEcKey();
  const b = newEcKey();
  const one = testCertificate({ subject: "A", isCa: true, privateKey: a });
  const two = testCertificate({ subject: "B", isCa: true, privateKey: b, issuer: one });
  const back = testCertificate({ subject: "A", isCa: true, privateKey: a, issuer: two });
  assert.match(pathFault(ekOf(back), [back, two, one, back]) ?? "", /no path/);
});
