import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createPublicKey, generateKeyPairSync } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { CsrError, readCsr } from "./csr.ts";
import { csrPem, makeKeyCsr } from "./make-csr.ts";

const isWhole = process.env["SIGNET_TEST_WHOLE"] === "1";

let folder = "";
before(() => {
  folder = mkdtempSync(join(tmpdir(), "signet-csr-"));
});
after(() => rmSync(folder, { recursive: true, force: true }));

const openssl = (...args: readonly string[]): string =>
  execFileSync("openssl", args, { cwd: folder, encoding: "utf8", stdio: "pipe" });

/** @param kind what `openssl genpkey` takes. @param options what `openssl req` takes */
function requestOf(kind: readonly string[], options: readonly string[] = []): string {
  openssl("genpkey", "-quiet", ...kind, "-out", "key.pem");
  return openssl("req", "-new", "-key", "key.pem", "-subj", "/O=Acme/CN=till 4", ...options);
}

const curve = (name: string, ...more: readonly string[]) => [
  ...["-algorithm", "EC", "-pkeyopt", `ec_paramgen_curve:${name}`],
  ...more,
];
const rsa = (bits: number, ...more: readonly string[]) => [
  ...["-algorithm", "RSA", "-pkeyopt", `rsa_keygen_bits:${bits}`],
  ...more,
];

test("parses OpenSSL requests of every key type and digest", () => {
  const alsoSlow = isWhole ? [["RSA of 4096 bits", rsa(4096)] as const] : [];
  for (const [what, kind, ...options] of [
    ["P-256", curve("P-256")],
    ["P-256 with SHA-384", curve("P-256"), "-sha384"],
    ["P-384", curve("P-384")],
    ["P-384 with SHA-512", curve("P-384"), "-sha512"],
    ["RSA of 2048 bits", rsa(2048)],
    ["RSA of 3072 bits with SHA-512", rsa(3072), "-sha512"],
    ...alsoSlow,
    ["Ed25519", ["-algorithm", "ED25519"]],
    [
      "with extensions",
      curve("P-256"),
      "-addext",
      "subjectAltName=DNS:till.example",
      "-addext",
      "keyUsage=keyCertSign",
    ],
    ["with the older label", curve("P-256"), "-newhdr"],
  ] as ReadonlyArray<readonly [string, readonly string[], ...string[]]>) {
    const csr = readCsr(requestOf(kind, options));
    const key = createPublicKey(readFileSync(join(folder, "key.pem")));
    assert.ok(csr.publicKey.equals(key), what);
    assert.deepEqual(csr.spki, key.export({ format: "der", type: "spki" }), what);
  }
});

test("rejects weak requests that OpenSSL signs, with the right error", () => {
  for (const [what, code, kind, ...options] of [
    ["RSA of 1024 bits", "csr_key_weak", rsa(1024)],
    ["e = 3", "csr_key_weak", rsa(2048, "-pkeyopt", "rsa_keygen_pubexp:3")],
    ["secp256k1", "csr_key_unsupported", curve("secp256k1")],
    ["P-224", "csr_key_unsupported", curve("P-224")],
    ["explicit parameters", "csr_key_unsupported", curve("P-256", "-pkeyopt", "ec_param_enc:explicit")],
    ["SHA-1", "csr_signature_alg", curve("P-256"), "-sha1"],
    ["RSASSA-PSS", "csr_signature_alg", rsa(2048), "-sigopt", "rsa_padding_mode:pss"],
  ] as ReadonlyArray<readonly [string, string, readonly string[], ...string[]]>) {
    const sent = requestOf(kind, options);
    assert.throws(
      () => readCsr(sent),
      (error) => error instanceof CsrError && error.code === code,
      what,
    );
  }
});

test("rejects a compressed point", () => {
  openssl("genpkey", "-quiet", ...curve("P-256"), "-out", "named.pem");
  openssl("ec", "-in", "named.pem", "-conv_form", "compressed", "-out", "key.pem");
  const sent = openssl("req", "-new", "-key", "key.pem", "-subj", "/CN=till");
  assert.throws(
    () => readCsr(sent),
    (error) => error instanceof CsrError && error.code === "csr_key_unsupported",
  );
});

test("OpenSSL accepts our requests", async () => {
  for (const { privateKey } of [
    generateKeyPairSync("ec", { namedCurve: "P-256" }),
    generateKeyPairSync("ec", { namedCurve: "P-384" }),
    generateKeyPairSync("rsa", { modulusLength: 2048 }),
    generateKeyPairSync("ed25519"),
  ]) {
    writeFileSync(join(folder, "ours.pem"), csrPem(await makeKeyCsr(privateKey)));
    const told = execFileSync("openssl", ["req", "-in", "ours.pem", "-verify", "-noout", "-pubkey"], {
      cwd: folder,
      encoding: "utf8",
      stdio: "pipe",
    });
    assert.ok(createPublicKey(told).equals(createPublicKey(privateKey)));
  }
});
