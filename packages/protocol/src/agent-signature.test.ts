import assert from "node:assert/strict";
import { createPublicKey, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { test } from "node:test";
import {
  type AgentAlg,
  agentAlgorithms,
  agentAlgs,
  agentSignatureLength,
  checkAgentSignature,
  defaultAgentAlg,
  fitsAgentAlg,
  isAgentAlg,
  verifyAgentSignature,
} from "./agent-signature.ts";
import { mlDsaAlgs } from "./jose/ml-dsa.ts";

const ec = (namedCurve: string) => generateKeyPairSync("ec", { namedCurve });
const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 });
const pairs: Readonly<Record<AgentAlg, { publicKey: KeyObject; privateKey: KeyObject }>> = {
  ES256: ec("P-256"),
  ES384: ec("P-384"),
  PS256: rsa,
  RS256: rsa,
  EdDSA: generateKeyPairSync("ed25519"),
  "ML-DSA-44": generateKeyPairSync("ml-dsa-44"),
  "ML-DSA-65": generateKeyPairSync("ml-dsa-65"),
  "ML-DSA-87": generateKeyPairSync("ml-dsa-87"),
};
const INPUT = "eyJ.eyJ";

const signed = (alg: AgentAlg, input = INPUT, { privateKey } = pairs[alg]): Buffer => {
  const { digest, options } = agentAlgorithms[alg];
  return sign(digest, Buffer.from(input), { key: privateKey, ...options });
};
const check = (alg: AgentAlg, signature: string, input = INPUT) =>
  checkAgentSignature({ publicKey: pairs[alg].publicKey, alg }, input, signature);

test("what each algorithm signs holds, and no altered input or signature does", () => {
  for (const alg of agentAlgs) {
    const signature = signed(alg);
    assert.equal(check(alg, signature.toString("base64url")), "good", alg);
    assert.equal(check(alg, signature.toString("base64url"), `${INPUT}x`), "bad_signature", alg);
    for (let at = 0; at < signature.length; at += Math.max(7, signature.length >> 5)) {
      const altered = Buffer.from(signature);
      altered[at] = (altered[at] ?? 0) ^ 1;
      assert.equal(check(alg, altered.toString("base64url")), "bad_signature", `${alg} ${at}`);
    }
  }
});

test("one spelling of a signature is taken, and one length", () => {
  for (const alg of agentAlgs) {
    const signature = signed(alg);
    const text = signature.toString("base64url");
    for (const other of [`${text}=`, ` ${text}`, `${text}\n`, text.replace(/.$/, "~")])
      assert.equal(check(alg, other), "bad_encoding", alg);
    const standard = signature.toString("base64");
    // One in sixty of 96 bytes is spelled alike in both alphabets.
    if (standard !== text) assert.notEqual(check(alg, standard), "good");
    assert.equal(check(alg, Buffer.concat([signature, Buffer.of(0)]).toString("base64url")), "bad_signature");
    assert.equal(check(alg, ""), "bad_signature");
    assert.equal(signature.length, agentSignatureLength({ publicKey: pairs[alg].publicKey, alg }));
  }
});

test("a DER signature is none, though node:crypto would verify it", () => {
  const der = sign("sha256", Buffer.from(INPUT), pairs.ES256.privateKey);
  assert.equal(check("ES256", der.toString("base64url")), "bad_signature");
});

test("the registered algorithm is the one that counts, also where the key could do another", () => {
  assert.equal(check("PS256", signed("RS256").toString("base64url")), "bad_signature");
  assert.equal(check("RS256", signed("PS256").toString("base64url")), "bad_signature");
});

test("the parameter sets of ML-DSA are not one another: neither key nor signature", () => {
  for (const alg of mlDsaAlgs)
    for (const other of mlDsaAlgs.filter((one) => one !== alg)) {
      assert.equal(check(alg, signed(other).toString("base64url")), "bad_signature", `${alg} ${other}`);
      const key = { publicKey: pairs[other].publicKey, alg };
      assert.equal(checkAgentSignature(key, INPUT, signed(other).toString("base64url")), "bad_signature");
    }
});

test("a key fits the algorithms of its kind, curve and size, and nothing else", () => {
  const fits = (publicKey: KeyObject) => agentAlgs.filter((alg) => fitsAgentAlg({ publicKey, alg }));
  assert.deepEqual(fits(pairs.ES256.publicKey), ["ES256"]);
  assert.deepEqual(fits(pairs.ES384.publicKey), ["ES384"]);
  assert.deepEqual(fits(rsa.publicKey), ["PS256", "RS256"]);
  assert.deepEqual(fits(pairs.EdDSA.publicKey), ["EdDSA"]);
  for (const alg of mlDsaAlgs) assert.deepEqual(fits(pairs[alg].publicKey), [alg]);
  assert.deepEqual(fits(ec("secp256k1").publicKey), []);
  assert.deepEqual(fits(generateKeyPairSync("x25519").publicKey), []);
  const jwk = rsa.publicKey.export({ format: "jwk" });
  const rsaKey = (more: object) => createPublicKey({ key: { ...jwk, ...more }, format: "jwk" });
  assert.deepEqual(fits(rsaKey({ n: Buffer.alloc(128, 0xc3).toString("base64url") })), [], "1024 bits");
  assert.deepEqual(fits(rsaKey({ e: "Aw" })), [], "an exponent of 3");
});

test("without alg a key signs with what its type says", () => {
  const byType = agentAlgs.filter((alg) => alg !== "RS256");
  assert.deepEqual(
    byType.map((alg) => defaultAgentAlg(pairs[alg].publicKey)),
    byType,
  );
  assert.equal(defaultAgentAlg(ec("P-521").publicKey), undefined);
  for (const alg of ["none", "HS256", "ES512", "", undefined, 1]) assert.equal(isAgentAlg(alg), false);
});

test("a thread of the pool comes to the same verdicts", async () => {
  for (const alg of agentAlgs) {
    const { publicKey } = pairs[alg];
    const key = { publicKey, alg };
    const bytes = signed(alg);
    const good = bytes.toString("base64url");
    const altered = Buffer.from(bytes.map((byte, index) => (index === 5 ? byte ^ 1 : byte)));
    assert.equal(await verifyAgentSignature(key, INPUT, good), "good", alg);
    assert.equal(await verifyAgentSignature(key, `${INPUT}x`, good), "bad_signature", alg);
    assert.equal(await verifyAgentSignature(key, INPUT, altered.toString("base64url")), "bad_signature", alg);
    assert.equal(await verifyAgentSignature(key, INPUT, `${good}=`), "bad_encoding", alg);
    assert.equal(await verifyAgentSignature(key, INPUT, good.slice(4)), "bad_signature", alg);
  }
});
