import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createPublicKey } from "node:crypto";
import { chmod, mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { UnsafeFile } from "@signet/cli-runtime/private-file";
import { agentAlgs, checkAgentSignature } from "@signet/protocol/agent-signature";
import type { PublicKeyMembers } from "@signet/protocol/jose/jwk-members";
import { agentKey, InvalidKey } from "./key-source.ts";
import { openKeys } from "./open-keys.ts";
import { createPemKey, generatePrivateKey, memoryKey, openPemKey } from "./pem-key.ts";

describe("keys", () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "signet-agent-"));
  });
  after(() => rm(folder, { recursive: true }));
  const inFolder = (name: string) => path.join(folder, name);

  for (const alg of agentAlgs)
    test(`a PEM key signs ${alg} so that the service accepts it`, async () => {
      const file = inFolder(`${alg}.pem`);
      await createPemKey(file, alg);
      assert.equal((await stat(file)).mode & 0o777, 0o600);
      const [key] = await openKeys([{ file, alg }]);
      assert.ok(key);
      const publicKey = createPublicKey({ key: key.publicJwk as object, format: "jwk" });
      assert.equal(checkAgentSignature({ publicKey, alg }, "a.b", await key.sign("a.b")), "good");
      assert.ok(!("d" in key.publicJwk || "priv" in key.publicJwk));
    });

  test("a key file that others can read, or that is not a file, is refused", async () => {
    const file = inFolder("open.pem");
    await createPemKey(file, "ES256");
    for (const mode of [0o640, 0o604, 0o660]) {
      await chmod(file, mode);
      await assert.rejects(openPemKey(file), UnsafeFile);
    }
    await assert.rejects(openPemKey(folder), UnsafeFile);
  });

  test("a key is never overwritten", async () => {
    const file = inFolder("twice.pem");
    await createPemKey(file, "ES256");
    await assert.rejects(createPemKey(file, "ES256"), { code: "EEXIST" });
  });

  test("a wrong alg, a public key and a key configured twice are refused", async () => {
    const file = inFolder("alg.pem");
    await createPemKey(file, "ES256");
    await assert.rejects(openPemKey(file, "ES384"), InvalidKey);
    await assert.rejects(openPemKey(file, "HS256"), InvalidKey);
    await assert.rejects(openKeys([{ file }, { file }]), InvalidKey);
    const publicFile = inFolder("public.pem");
    const publicKey = createPublicKey(await generatePrivateKey("EdDSA"));
    await writeFile(publicFile, publicKey.export({ type: "spki", format: "pem" }), { mode: 0o600 });
    await assert.rejects(openPemKey(publicFile), InvalidKey);
  });

  test("one parameter set of ML-DSA is not taken for another", async () => {
    const file = inFolder("set.pem");
    await createPemKey(file, "ML-DSA-65");
    for (const alg of ["ML-DSA-44", "ML-DSA-87", "EdDSA"])
      await assert.rejects(openPemKey(file, alg), /not a key for/);
    const [one, other] = await Promise.all([
      generatePrivateKey("ML-DSA-65"),
      generatePrivateKey("ML-DSA-44"),
    ]);
    const named = { ...memoryKey(one, "ML-DSA-65"), alg: "ML-DSA-44" } as const;
    assert.throws(() => agentKey(named, "test"), InvalidKey);
    const source = { ...memoryKey(one, "ML-DSA-65"), sign: memoryKey(other, "ML-DSA-44").sign };
    await assert.rejects(agentKey(source, "test").sign("a.b"), /does not verify/);
  });

  test("of a source's JWK only the public members are used", async () => {
    for (const alg of ["ES256", "ML-DSA-44"] as const) {
      const privateKey = await generatePrivateKey(alg);
      const publicJwk = privateKey.export({ format: "jwk" }) as PublicKeyMembers;
      const key = agentKey({ ...memoryKey(privateKey, alg), publicJwk }, "test");
      assert.deepEqual(key.publicJwk, memoryKey(privateKey, alg).publicJwk);
    }
  });

  test("a source that signs with another key is caught", async () => {
    const [one, other] = await Promise.all([generatePrivateKey("ES256"), generatePrivateKey("ES256")]);
    const source = { ...memoryKey(one, "ES256"), sign: memoryKey(other, "ES256").sign };
    await assert.rejects(agentKey(source, "test").sign("a.b"), /does not verify/);
  });

  test("a module provides a key, as for a cloud's key service", async () => {
    const file = inFolder("kms.mjs");
    await writeFile(
      file,
      `import { generateKeyPairSync, sign } from "node:crypto";
      const { privateKey, publicKey } = generateKeyPairSync("ed25519");
      export const openKey = async ({ name }) => {
        if (name !== "main") throw new Error("options");
        return { publicJwk: publicKey.export({ format: "jwk" }), alg: "EdDSA", sign: async (bytes) => sign(null, bytes, privateKey) };
      };`,
    );
    const [key] = await openKeys([{ module: { path: file, options: { name: "main" } } }]);
    assert.equal(key?.alg, "EdDSA");
    assert.ok(await key?.sign("a.b"));
    await writeFile(inFolder("none.mjs"), "export const other = 1;");
    await assert.rejects(openKeys([{ module: { path: inFolder("none.mjs") } }]), InvalidKey);
  });

  test("the certificate chain must be the key's own", async () => {
    const keyFile = inFolder("chain-key.pem");
    await createPemKey(keyFile, "ES256");
    const chain = inFolder("chain.pem");
    const subject = ["-subj", "/CN=agent", "-days", "1"];
    execFileSync("openssl", ["req", "-x509", "-new", "-key", keyFile, "-out", chain, ...subject], {
      stdio: "pipe",
    });
    const [key] = await openKeys([{ file: keyFile, chain }]);
    assert.equal(key?.x5c?.length, 1);
    const other = inFolder("other.pem");
    await createPemKey(other, "ES256");
    await assert.rejects(openKeys([{ file: other, chain }]), InvalidKey);
  });
});
