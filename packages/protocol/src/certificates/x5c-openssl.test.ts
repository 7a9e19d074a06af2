import assert from "node:assert/strict";
import {
  constants,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
} from "node:crypto";
import { test } from "node:test";
import fc from "fast-check";
import { childrenOf, derTags, expectTag, readDer } from "../der/der.ts";
import { derInteger, derNull, derOctetString, derOid, derSequence, derValue } from "../der/der-writer.ts";
import { opensslAccepts } from "../testing/openssl-verify.ts";
import {
  extension,
  newEcKey,
  type SignatureScheme,
  type TestCertificate,
  type TestCertificateInput,
  testCertificate,
} from "../testing/test-certificate.ts";
import { x5cChainFault } from "./x5c-chain.ts";

const POOL = "https://id.example/oauth/org/sovereign/pools/pool";
const DAY_MS = 86_400_000;

const faultOf = (path: readonly TestCertificate[], root: TestCertificate, key = path[0]?.privateKey) =>
  x5cChainFault({
    x5c: path.map(({ x5c }) => x5c),
    trustedRoots: [root.pem],
    publicJwk: key ? createPublicKey(key).export({ format: "jwk" }) : {},
    subjectUri: POOL,
    now: Date.now(),
  });

const ecKey = (namedCurve: string) => generateKeyPairSync("ec", { namedCurve }).privateKey;
const rsaKey = (modulusLength: number) => generateKeyPairSync("rsa", { modulusLength }).privateKey;
const rsa = rsaKey(2048);

const scheme = (identifier: Buffer, digest: string | null, padding?: object): SignatureScheme => ({
  identifier,
  sign: (bytes, key) => sign(digest, bytes, padding ? { key, ...padding } : key),
});
const named = (oid: string, ...parameters: Buffer[]) => derSequence(derOid(oid), ...parameters);
const RSA_SHA256 = "2a864886f70d01010b";
const digests = {
  sha1: named("2b0e03021a", derNull),
  sha256: named("608648016503040201", derNull),
  sha512: named("608648016503040203", derNull),
};
type Digest = keyof typeof digests;
/** RFC 4055 §3.1. */
const pssParameters = (digest: Digest, mask: Digest, saltLength: number) =>
  derSequence(
    derValue(0xa0, digests[digest]),
    derValue(0xa1, named("2a864886f70d010108", digests[mask])),
    derValue(0xa2, derInteger(saltLength)),
  );
const pss = (digest: Digest, saltLength: number, mask: Digest = digest) =>
  scheme(named("2a864886f70d01010a", pssParameters(digest, mask, saltLength)), digest, {
    padding: constants.RSA_PKCS1_PSS_PADDING,
    saltLength,
  });

/** A root of this key, and a leaf that it signs so. */
function pair(privateKey: KeyObject, how: SignatureScheme, leaf: Partial<TestCertificateInput> = {}) {
  const root = testCertificate({ subject: "Root", isCa: true, privateKey, scheme: how });
  return {
    root,
    leaf: testCertificate({ subject: "Agent", issuer: root, uris: [POOL], scheme: how, ...leaf }),
  };
}

const good: ReadonlyArray<readonly [what: string, key: KeyObject, how: SignatureScheme]> = [
  ["ECDSA P-256, SHA-256", newEcKey(), scheme(named("2a8648ce3d040302"), "sha256")],
  ["ECDSA P-384, SHA-384", ecKey("P-384"), scheme(named("2a8648ce3d040303"), "sha384")],
  ["ECDSA P-521, SHA-512", ecKey("P-521"), scheme(named("2a8648ce3d040304"), "sha512")],
  ["ECDSA P-384, SHA-256", ecKey("P-384"), scheme(named("2a8648ce3d040302"), "sha256")],
  ["RSA, SHA-256", rsa, scheme(named(RSA_SHA256, derNull), "sha256")],
  ["RSA, SHA-256, no parameters", rsa, scheme(named(RSA_SHA256), "sha256")],
  ["RSA, SHA-512", rsa, scheme(named("2a864886f70d01010d", derNull), "sha512")],
  ["RSASSA-PSS, SHA-256", rsa, pss("sha256", 32)],
  ["RSASSA-PSS, SHA-512 and a short salt", rsa, pss("sha512", 20)],
  ["Ed25519", generateKeyPairSync("ed25519").privateKey, scheme(named("2b6570"), null)],
];

for (const [what, key, how] of good)
  test(`accepts like OpenSSL a signature with ${what}, and rejects another key's`, async () => {
    const { root, leaf } = pair(key, how);
    assert.equal(await faultOf([leaf], root), undefined);
    assert.equal(opensslAccepts([leaf], [root]), true);
    const stranger = key.asymmetricKeyType === "rsa" ? rsaKey(1024) : newKeyLike(key);
    const forged = pair(key, how, { forger: stranger });
    assert.match((await faultOf([forged.leaf], forged.root)) ?? "accepted", /does not end at a trusted root/);
    assert.equal(opensslAccepts([forged.leaf], [forged.root]), false);
  });

function newKeyLike(key: KeyObject): KeyObject {
  const { namedCurve } = key.asymmetricKeyDetails ?? {};
  return namedCurve === undefined ? generateKeyPairSync("ed25519").privateKey : ecKey(namedCurve);
}

const leafKeys: ReadonlyArray<readonly [what: string, key: KeyObject]> = [
  ["RSA", rsa],
  ["P-384", ecKey("P-384")],
  ["Ed25519", generateKeyPairSync("ed25519").privateKey],
];
for (const [what, privateKey] of leafKeys)
  test(`accepts a certified key of type ${what}`, async () => {
    const { root, leaf } = pair(newEcKey(), scheme(named("2a8648ce3d040302"), "sha256"), { privateKey });
    assert.equal(await faultOf([leaf], root), undefined);
    assert.match((await faultOf([leaf], root, newEcKey())) ?? "accepted", /another key/);
  });

const bothSchemes = {
  ecdsa: scheme(named("2a8648ce3d040302"), "sha256"),
  rsa: scheme(named(RSA_SHA256, derNull), "sha256"),
};
const weak: ReadonlyArray<readonly [what: string, key: KeyObject, how: SignatureScheme]> = [
  ["SHA-1 in RSA", rsa, scheme(named("2a864886f70d010105", derNull), "sha1")],
  ["SHA-1 in RSASSA-PSS", rsa, pss("sha1", 20)],
  [
    "SHA-1 in RSASSA-PSS, where it is left out",
    rsa,
    scheme(named("2a864886f70d01010a", derSequence()), "sha256"),
  ],
  ["a mask of another digest", rsa, pss("sha256", 32, "sha512")],
  ["an RSA key of 1024 bits", rsaKey(1024), bothSchemes.rsa],
  ["a curve that few know", ecKey("secp256k1"), bothSchemes.ecdsa],
  [
    "an algorithm that is not that of the key",
    newEcKey(),
    { identifier: bothSchemes.rsa.identifier, sign: bothSchemes.ecdsa.sign },
  ],
];
for (const [what, key, how] of weak)
  test(`rejects ${what}`, async () => {
    const { root, leaf } = pair(key, how);
    assert.match((await faultOf([leaf], root)) ?? "accepted", /not accepted|trusted root/);
  });

const pssKeys = [{ hashAlgorithm: "sha256", mgf1HashAlgorithm: "sha256" }, {}];
for (const named of pssKeys)
  test(`a key for RSASSA-PSS alone, ${JSON.stringify(named)}, signs nothing else, and is no agent's`, async () => {
    const { privateKey: pem } = generateKeyPairSync("rsa-pss", {
      ...named,
      modulusLength: 2048,
      publicKeyEncoding: { type: "spki", format: "pem" },
      privateKeyEncoding: { type: "pkcs8", format: "pem" },
    });
    const pssOnly = createPrivateKey(pem);
    const authority = { subject: "Root", isCa: true, privateKey: pssOnly, scheme: pss("sha256", 32) };
    const pinned = testCertificate(authority);
    const leafOf = (how: SignatureScheme, forger: KeyObject) =>
      testCertificate({ subject: "Agent", issuer: pinned, uris: [POOL], scheme: how, forger });
    const right = leafOf(pss("sha256", 32), pssOnly);
    assert.equal(await faultOf([right], pinned), undefined);
    assert.equal(opensslAccepts([right], [pinned]), true);
    // The same numbers in a key for everything.
    const plain = leafOf(bothSchemes.rsa, createPlain(pssOnly));
    assert.match((await faultOf([plain], pinned)) ?? "accepted", /trusted root/);
    assert.equal(opensslAccepts([plain], [pinned]), false);
    const { root, leaf } = pair(newEcKey(), bothSchemes.ecdsa, { privateKey: pssOnly });
    assert.match((await faultOf([leaf], root, createPlain(pssOnly))) ?? "accepted", /another key/);
  });

/** The same numbers, for any RSA signature: the algorithm that PKCS#8 names is all that says otherwise (RFC 5208 §5). */
function createPlain(key: KeyObject): KeyObject {
  const parts = childrenOf(readDer(key.export({ format: "der", type: "pkcs8" }), derTags.sequence));
  return createPrivateKey({
    key: expectTag(parts[2], derTags.octetString).content,
    format: "der",
    type: "pkcs1",
  });
}

const keyId = (text: string) => derOctetString(Buffer.from(text));
const subjectKeyId = (text: string) => extension("551d0e", keyId(text));
const issuerKeyId = (...parts: Buffer[]) => extension("551d23", derSequence(...parts));
const own = (tag: number, text: string) => derValue(tag, Buffer.from(text));

test("rejects names and key identifiers of another issuer, like OpenSSL", async () => {
  const root = testCertificate({ subject: "Root", isCa: true, more: [subjectKeyId("root key")] });
  const leafOf = (...parts: Buffer[]) =>
    testCertificate({ subject: "Agent", issuer: root, uris: [POOL], more: [issuerKeyId(...parts)] });
  const fits = leafOf(own(0x80, "root key"));
  assert.equal(await faultOf([fits], root), undefined);
  assert.equal(opensslAccepts([fits], [root]), true);
  const elsewhere = derValue(0xa1, derValue(0xa4, derSequence()));
  const nameless = testCertificate({
    subject: "Agent",
    issuer: { ...root, subject: "Another" },
    uris: [POOL],
  });
  const others = [own(0x80, "another key"), elsewhere, own(0x82, "\x7f\x01")].map((part) => leafOf(part));
  for (const other of [...others, nameless]) {
    assert.match((await faultOf([other], root)) ?? "accepted", /trusted root/);
    assert.equal(opensslAccepts([other], [root]), false);
  }
});

const oddity = fc.constantFrom<Array<() => Partial<TestCertificateInput>>>(
  ...Array.from({ length: 8 }, () => () => ({})),
  () => ({ isCa: false }),
  () => ({ keyUsage: [0] }),
  () => ({ pathLength: 0 }),
  () => ({ pathLength: 1 }),
  () => ({ forger: newEcKey() }),
  () => ({ validTo: new Date(Date.now() - DAY_MS), validFrom: new Date(Date.now() - 2 * DAY_MS) }),
  () => ({ validFrom: new Date(Date.now() + DAY_MS), validTo: new Date(Date.now() + 2 * DAY_MS) }),
  () => ({ more: [extension("2a03", Buffer.from("0500", "hex"), true)] }),
  () => ({ more: [extension("2a03", Buffer.from("0500", "hex"))] }),
  () => ({ more: [issuerKeyId(own(0x80, "x"))] }),
  () => ({ more: [subjectKeyId("x")] }),
);

test("accepts no chain that OpenSSL rejects, whatever is changed", async () => {
  const runs = process.env["SIGNET_TEST_WHOLE"] === "1" ? 1_000 : 40;
  await fc.assert(
    fc.asyncProperty(fc.array(oddity, { minLength: 2, maxLength: 4 }), async (oddities) => {
      const path: TestCertificate[] = [];
      for (const [index, odd] of oddities.entries()) {
        const issuer = path[0];
        const isLeaf = index === oddities.length - 1;
        const plain = {
          subject: `Number ${index}`,
          isCa: !isLeaf,
          ...(issuer ? { issuer } : {}),
          ...(isLeaf ? { uris: [POOL] } : {}),
        };
        path.unshift(testCertificate({ ...plain, ...odd() }));
      }
      const root = path.pop();
      assert.ok(root);
      if ((await faultOf(path, root)) === undefined) assert.equal(opensslAccepts(path, [root]), true);
      else if (oddities.every((odd) => Object.keys(odd()).length === 0))
        assert.fail("nothing is wrong with it");
    }),
    { numRuns: runs },
  );
});
