import assert from "node:assert/strict";
import { createPublicKey, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { test } from "node:test";
import { derOid, derSequence } from "../der/der-writer.ts";
import { opensslAccepts } from "../testing/openssl-verify.ts";
import {
  extension,
  newEcKey,
  type TestCertificate,
  type TestCertificateInput,
  testCertificate,
} from "../testing/test-certificate.ts";
import { rootFault, x5cChainFault } from "./x5c-chain.ts";

const POOL = "https://id.example/oauth/org/sovereign/pools/pool";
const DAY_MS = 86_400_000;

const root = testCertificate({ subject: "Root", isCa: true });
const issuing = testCertificate({ subject: "Issuing", isCa: true, issuer: root });
const leafOf = (issuer: TestCertificate, more: Partial<TestCertificateInput> = {}) =>
  testCertificate({ subject: "Agent", issuer, uris: [POOL], ...more });
const caOf = (issuer: TestCertificate, more: Partial<TestCertificateInput> = {}) =>
  testCertificate({ subject: "Issuing", isCa: true, issuer, ...more });

const jwkOf = (key: KeyObject) => createPublicKey(key).export({ format: "jwk" });

/** @param path the leaf first, without the root */
async function faultOf(path: readonly TestCertificate[], roots: readonly TestCertificate[] = [root]) {
  const [leaf] = path;
  assert.ok(leaf);
  return x5cChainFault({
    x5c: path.map(({ x5c }) => x5c),
    trustedRoots: roots.map(({ pem }) => pem),
    publicJwk: jwkOf(leaf.privateKey),
    subjectUri: POOL,
    now: Date.now(),
  });
}

test("accepts a leaf, an intermediate and a pinned root like OpenSSL, with or without the root in the chain", async () => {
  const leaf = leafOf(issuing);
  assert.equal(await faultOf([leaf, issuing]), undefined);
  assert.equal(await faultOf([leaf, issuing, root]), undefined);
  assert.equal(opensslAccepts([leaf, issuing], [root]), true);
  const direct = leafOf(root);
  assert.equal(await faultOf([direct]), undefined);
  assert.equal(opensslAccepts([direct], [root]), true);
  // At most two intermediates.
  const deeper = caOf(issuing, { subject: "Deeper" });
  assert.equal(await faultOf([leafOf(deeper), deeper, issuing]), undefined);
});

test("accepts a leaf with a key of ML-DSA, and no issuer with one", async () => {
  for (const name of ["ml-dsa-44", "ml-dsa-65", "ml-dsa-87"] as const) {
    const { privateKey } = generateKeyPairSync(name);
    const leaf = leafOf(issuing, { privateKey });
    assert.equal(await faultOf([leaf, issuing]), undefined, name);
    const swapped = { ...leaf, privateKey: generateKeyPairSync(name).privateKey };
    assert.equal(await faultOf([swapped, issuing]), "the leaf is for another key");
    const renamed = { ...jwkOf(privateKey), alg: "ML-DSA-99" };
    const chain = {
      x5c: [leaf.x5c, issuing.x5c],
      trustedRoots: [root.pem],
      subjectUri: POOL,
      now: Date.now(),
    };
    assert.equal(await x5cChainFault({ ...chain, publicJwk: renamed }), "the leaf is for another key");
  }
  const identifier = derSequence(derOid("608648016503040312"));
  const scheme = { identifier, sign: (bytes: Buffer, key: KeyObject) => sign(null, bytes, key) };
  const { privateKey } = generateKeyPairSync("ml-dsa-65");
  const lattice = testCertificate({ subject: "Lattice", isCa: true, privateKey, scheme });
  const refused = "is signed with an algorithm that is not accepted";
  assert.equal(await rootFault(lattice.pem, Date.now()), refused);
  assert.equal(await faultOf([leafOf(lattice, { scheme })], [lattice]), `certificate 0 ${refused}`);
});

const stranger = testCertificate({ subject: "Root", isCa: true });
const noCa = caOf(root, { isCa: false, keyUsage: [0, 5] });
const noSigner = caOf(root, { keyUsage: [0] });
const short = testCertificate({ subject: "Short", isCa: true, pathLength: 0 });
const belowShort = caOf(short);
const yesterday = { validFrom: new Date(Date.now() - 2 * DAY_MS), validTo: new Date(Date.now() - DAY_MS) };
const tomorrow = {
  validFrom: new Date(Date.now() + DAY_MS),
  validTo: new Date(Date.now() + 2 * DAY_MS),
};
const constraints = Buffer.from("3000", "hex");
const lateIssuer = caOf(root, tomorrow);
const unknownCritical = extension("2a03", Buffer.from("0500", "hex"), true);
const odd = caOf(root, { more: [unknownCritical] });
const expiredRoot = testCertificate({ subject: "Old", isCa: true, ...yesterday });

const bothRefuse: ReadonlyArray<
  readonly [what: string, path: readonly TestCertificate[], fault: RegExp, roots?: readonly TestCertificate[]]
> = [
  ["a root that nobody pinned", [leafOf(stranger)], /does not end at a trusted root/],
  ["an authority that is left out", [leafOf(issuing)], /does not end at a trusted root/],
  ["a forged signature", [leafOf(issuing, { forger: newEcKey() }), issuing], /not issued by the next/],
  [
    "an authority with a forged signature",
    [leafOf(issuing), caOf(root, { forger: newEcKey(), privateKey: issuing.privateKey })],
    /trusted root/,
  ],
  ["an issuer that is no authority", [leafOf(noCa), noCa], /certificate 1 is not a certificate authority/],
  [
    "an issuer that may not sign certificates",
    [leafOf(noSigner), noSigner],
    /certificate 1 may not sign certificates/,
  ],
  [
    "a path that is longer than the root allows",
    [leafOf(belowShort), belowShort],
    /path of this length/,
    [short],
  ],
  ["a leaf that has expired", [leafOf(root, yesterday)], /certificate 0 has expired/],
  ["a leaf that is not valid yet", [leafOf(root, tomorrow)], /certificate 0 is not valid yet/],
  ["an authority that is not valid yet", [leafOf(lateIssuer), lateIssuer], /certificate 1 is not valid yet/],
  ["a root that has expired", [leafOf(expiredRoot)], /certificate 1 has expired/, [expiredRoot]],
  [
    "an unknown critical extension of the leaf",
    [leafOf(root, { more: [unknownCritical] })],
    /critical extension/,
  ],
  ["an unknown critical extension of an authority", [leafOf(odd), odd], /certificate 1 has a critical/],
];

for (const [what, path, fault, roots] of bothRefuse)
  test(`rejects, like OpenSSL: ${what}`, async () => {
    assert.match((await faultOf(path, roots)) ?? "accepted", fault);
    assert.equal(opensslAccepts(path, roots ?? [root]), false);
  });

const limited = caOf(root, { more: [extension("551d1e", constraints, true)] });
const deep = caOf(issuing, { subject: "Deep" });
const deepest = caOf(deep, { subject: "Deepest" });
const uri = (text: string) => Buffer.concat([Buffer.from([0x86, text.length]), Buffer.from(text)]);
const san = Buffer.concat([Buffer.from([0x30, 2 + POOL.length]), uri(POOL)]);
const weaklySigned = caOf(root, { digest: "sha1" });

const weRefuse: ReadonlyArray<
  readonly [what: string, path: readonly TestCertificate[], fault: RegExp, roots?: readonly TestCertificate[]]
> = [
  ["a certificate for another pool", [leafOf(root, { uris: [`${POOL}2`] })], /lack the URI of the pool/],
  ["a certificate for no pool", [leafOf(root, { uris: [] })], /lack the URI of the pool/],
  [
    "a leaf that is an authority",
    [leafOf(root, { isCa: true, keyUsage: [0, 5] })],
    /leaf is a certificate authority/,
  ],
  ["a leaf that may only encrypt", [leafOf(root, { keyUsage: [2] })], /may not make digital signatures/],
  [
    "a leaf that says nothing of its use",
    [leafOf(root, { keyUsage: null })],
    /may not make digital signatures/,
  ],
  ["name constraints", [leafOf(limited), limited], /name constraints/],
  ["five certificates", [leafOf(deepest), deepest, deep, issuing], /at most 4/],
  ["a certificate of version 1", [leafOf(root, { version: 0 })], /not a certificate of version 3/],
  ["SHA-1", [leafOf(weaklySigned), weaklySigned], /algorithm that is not accepted/],
  ["an extension twice", [leafOf(root, { more: [extension("551d11", san)] })], /twice/],
  ["certificates after the root", [leafOf(root), root, issuing], /after the root/],
  ["the wrong order", [leafOf(deep), issuing, deep], /does not end|not issued/],
  ["a pinned authority that is no root", [leafOf(issuing), issuing], /not signed by itself/, [issuing]],
  ["the root as a key of its own", [root], /leaf is the root/],
];

for (const [what, path, fault, roots] of weRefuse)
  test(`rejects ${what}`, async () => assert.match((await faultOf(path, roots)) ?? "accepted", fault));

test("requires the certificate to certify the expected key", async () => {
  const leaf = leafOf(root);
  const fault = await x5cChainFault({
    x5c: [leaf.x5c],
    trustedRoots: [root.pem],
    publicJwk: jwkOf(newEcKey()),
    subjectUri: POOL,
    now: Date.now(),
  });
  assert.match(fault ?? "accepted", /another key/);
});

test("rejects malformed and non-canonical certificates without throwing", async () => {
  const leaf = leafOf(root);
  const chain = {
    trustedRoots: [root.pem],
    publicJwk: jwkOf(leaf.privateKey),
    subjectUri: POOL,
    now: Date.now(),
  };
  const urlSafe = leaf.der.toString("base64url");
  const longer = Buffer.concat([leaf.der, Buffer.from([0])]).toString("base64");
  for (const text of ["", "AAAA", "MAA=", urlSafe, `${leaf.x5c}\n`, longer, leaf.x5c.slice(0, 40)])
    assert.ok(await x5cChainFault({ ...chain, x5c: [text] }), text.slice(0, 20));
  assert.ok(await x5cChainFault({ ...chain, x5c: [] }));
  assert.ok(await x5cChainFault({ ...chain, trustedRoots: [], x5c: [leaf.x5c] }));
});

test("rejects a flip of any byte in the chain", async () => {
  const leaf = leafOf(root);
  for (let at = 0; at < leaf.der.length; at += 3) {
    const altered = Buffer.from(leaf.der);
    altered[at] = (altered[at] ?? 0) ^ 0x01;
    const fault = await faultOf([{ ...leaf, x5c: altered.toString("base64") }]);
    assert.ok(fault, `byte ${at}`);
  }
});

test("accepts exactly one pinned root, in PEM and valid now", async () => {
  const now = Date.now();
  assert.equal(await rootFault(root.pem, now), undefined);
  for (const pem of ["", "x", root.x5c, root.pem + root.pem])
    assert.match((await rootFault(pem, now)) ?? "", /PEM/);
  assert.match((await rootFault(issuing.pem, now)) ?? "", /signed by itself/);
  assert.match((await rootFault(expiredRoot.pem, now)) ?? "", /expired/);
  assert.match((await rootFault(testCertificate({ subject: "Leaf" }).pem, now)) ?? "", /authority/);
});
