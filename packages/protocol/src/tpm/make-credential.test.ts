import assert from "node:assert/strict";
import { createPublicKey, generateKeyPairSync, randomBytes } from "node:crypto";
import { test } from "node:test";
import { activateCredential, softAk, softEk } from "../testing/soft-tpm.ts";
import { TpmError, unsized } from "./buffer-reader.ts";
import { ekKindOf, makeCredential } from "./make-credential.ts";

const publicOf = (key: ReturnType<typeof softEk>) =>
  createPublicKey(key.export({ format: "pem", type: "pkcs8" }));
const { name } = softAk();
const secret = randomBytes(32);

for (const [kind, macBytes, seedBytes] of [
  ["rsa2048", 32, 256],
  ["p256", 32, 68],
  ["p384", 48, 100],
] as const)
  test(`a credential for an EK of ${kind} is activated only with the right TPM and key name`, () => {
    const ek = softEk(kind);
    const credential = makeCredential({ ek: publicOf(ek), name, secret });
    assert.equal(unsized(credential.encryptedSecret).length, seedBytes);
    assert.equal(unsized(credential.credentialBlob).length, 2 + macBytes + 2 + 32);
    assert.deepEqual(activateCredential(ek, name, credential), secret);
    assert.throws(() => activateCredential(ek, softAk().name, credential), /INTEGRITY/);
    assert.throws(() => activateCredential(softEk(kind), name, credential));
    const again = makeCredential({ ek: publicOf(ek), name, secret });
    assert.notDeepEqual(again, credential, "another seed every time");
  });

test("rejects other key types as endorsement keys", () => {
  for (const { publicKey } of [
    generateKeyPairSync("rsa", { modulusLength: 1024 }),
    generateKeyPairSync("rsa", { modulusLength: 2048, publicExponent: 3 }),
    generateKeyPairSync("rsa-pss", { modulusLength: 2048 }),
    generateKeyPairSync("ec", { namedCurve: "P-521" }),
    generateKeyPairSync("ed25519"),
  ])
    assert.throws(
      () => ekKindOf(publicKey),
      (error) => error instanceof TpmError && error.fault === "unsupported",
    );
});
