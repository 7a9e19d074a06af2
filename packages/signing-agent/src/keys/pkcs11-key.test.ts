/**
 * PKCS#11 against a token in memory, and against SoftHSM (Debian's package softhsm2). SIGNET_TEST_SOFTHSM names its
 * library when it is in no usual place; `softhsm2-util` must be beside it or on the PATH. pkcs11js is the one that `.ci/run` has
 * compiled, outside the checkout; SIGNET_TEST_PKCS11JS names its folder elsewhere.
 */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createPublicKey, type KeyObject, type SigningOptions, sign } from "node:crypto";
import { existsSync } from "node:fs";
import { copyFile, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { createRequire, registerHooks } from "node:module";
import { homedir, tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import {
  type AgentAlg,
  agentAlgorithms,
  agentAlgs,
  checkAgentSignature,
} from "@signet/protocol/agent-signature";
import { isMlDsaAlg } from "@signet/protocol/jose/ml-dsa";
import { agentKey, InvalidKey } from "./key-source.ts";
import { generatePrivateKey } from "./pem-key.ts";
import { openPkcs11Key } from "./pkcs11-key.ts";
import { type Mechanism, openLibrary, type Pkcs11 } from "./pkcs11-library.ts";

const points: Readonly<Record<string, string>> = {
  ES256: "06082a8648ce3d030107",
  ES384: "06052b81040022",
  EdDSA: "06032b6570",
};

/** A token that holds one key and answers as a real one does, the public point wrapped in an octet string. */
function memoryToken(privateKey: KeyObject, alg: AgentAlg, publicCount = 1): Pkcs11 {
  const jwk = createPublicKey(privateKey).export({ format: "jwk" });
  const bytes = (text: string | undefined) => Buffer.from(text ?? "", "base64url");
  const raw = alg === "EdDSA" ? bytes(jwk.x) : Buffer.concat([Buffer.from([4]), bytes(jwk.x), bytes(jwk.y)]);
  const kind = { RSA: 0, EC: 3, AKP: 0x4a }[jwk.kty ?? ""] ?? 0x40;
  const attributes: Record<number, Buffer> = {
    256: Buffer.from([kind, 0, 0, 0, 0, 0, 0, 0]),
    288: Buffer.concat([Buffer.alloc(1), bytes(jwk.n)]),
    290: bytes(jwk.e),
    384: Buffer.from(points[alg] ?? "", "hex"),
    385: Buffer.concat([Buffer.from([4, raw.length]), raw]),
  };
  let found: Buffer[] = [];
  let mechanism: Mechanism | undefined;
  return {
    load: () => {},
    C_Initialize: () => {},
    C_GetSlotList: () => [Buffer.alloc(1)],
    C_GetTokenInfo: () => ({ label: "signet                          " }),
    C_OpenSession: () => Buffer.alloc(1),
    C_CloseSession: () => {},
    C_Login: (_session, _user, pin) => {
      if (pin !== "1234") throw Object.assign(new Error("CKR_PIN_INCORRECT"), { code: 0xa0 });
    },
    C_FindObjectsInit: (_session, template) => {
      const isPublic = template[0]?.value === 2;
      const count = template[1]?.value !== "main" ? 0 : isPublic ? publicCount : 1;
      found = Array.from({ length: count }, () => Buffer.alloc(1));
    },
    C_FindObjects: () => found,
    C_FindObjectsFinal: () => {},
    C_GetAttributeValue: (_session, _object, template) =>
      template.map(({ type }) => ({ value: attributes[type] ?? Buffer.alloc(0) })),
    C_SignInit: (_session, wanted) => {
      mechanism = wanted;
    },
    C_SignAsync: async (_session, data) => signRaw(privateKey, mechanism, data),
  };
}

/** CKM_ECDSA signs the digest that it is given; everything else takes the text. */
function signRaw(key: KeyObject, mechanism: Mechanism | undefined, data: Buffer): Buffer {
  const options: Record<number, [string | null, SigningOptions]> = {
    [0x1057]: [null, {}],
    [0x40]: ["sha256", agentAlgorithms.RS256.options],
    [0x43]: ["sha256", agentAlgorithms.PS256.options],
  };
  const [digest, how] = options[mechanism?.mechanism ?? 0] ?? [null, { dsaEncoding: "ieee-p1363" as const }];
  return sign(digest, data, { key, ...how });
}

describe("a PKCS#11 key", () => {
  let folder: string;
  let pinFile: string;
  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "signet-agent-"));
    pinFile = path.join(folder, "pin");
    await writeFile(pinFile, "1234\n", { mode: 0o600 });
  });
  after(() => rm(folder, { recursive: true }));
  const place = (change: object = {}) => ({
    library: "lib.so",
    token: "signet",
    pinFile,
    key: "main",
    ...change,
  });
  const load = (calls: Pkcs11) => async () => calls;

  for (const alg of ["PS256", "RS256", "EdDSA"] as const)
    test(`signs ${alg} with the token's mechanism`, async () => {
      const token = memoryToken(await generatePrivateKey(alg), alg);
      const key = agentKey(await openPkcs11Key(place(), alg, load(token)), "token");
      const signatures = await Promise.all(["a.b", "c.d", "e.f", "g.h", "i.j"].map((text) => key.sign(text)));
      assert.equal(new Set(signatures).size, 5);
    });

  for (const alg of ["ES256", "ES384"] as const)
    test(`reads the point of an ${alg} key`, async () => {
      const privateKey = await generatePrivateKey(alg);
      const { publicJwk } = await openPkcs11Key(place(), undefined, load(memoryToken(privateKey, alg)));
      const { kty, crv, x, y } = createPublicKey(privateKey).export({ format: "jwk" });
      assert.deepEqual(publicJwk, { kty, crv, x, y });
    });

  test("refuses a key of ML-DSA with a sentence that says where to keep it", async () => {
    const privateKey = await generatePrivateKey("ML-DSA-65");
    const opened = openPkcs11Key(place(), undefined, load(memoryToken(privateKey, "ML-DSA-65")));
    await assert.rejects(
      opened,
      (error) => error instanceof InvalidKey && /ML-DSA keys in PKCS#11 .* in a file/.test(error.message),
    );
  });

  test("names what is wrong: token, key, PIN, or two keys with one label", async () => {
    const privateKey = await generatePrivateKey("ES256");
    const open = (change: object, count = 1) =>
      openPkcs11Key(place(change), undefined, load(memoryToken(privateKey, "ES256", count)));
    await assert.rejects(open({ token: "other" }), InvalidKey);
    await assert.rejects(open({ key: "other" }), /no private key with the label other/);
    await assert.rejects(open({}, 2), /more than one public key/);
    await assert.rejects(open({}, 0), /no public key/);
    await writeFile(path.join(folder, "wrong"), "0000", { mode: 0o600 });
    await assert.rejects(open({ pinFile: path.join(folder, "wrong") }), /CKR_PIN_INCORRECT/);
  });
});

const usualPlaces = ["/usr/lib/softhsm/libsofthsm2.so", "/usr/local/lib/softhsm/libsofthsm2.so"];
const library = [process.env["SIGNET_TEST_SOFTHSM"] ?? "", ...usualPlaces].find((file) => existsSync(file));

function softhsm(...parameters: string[]): void {
  const beside = path.join(path.dirname(library ?? ""), "../../bin/softhsm2-util");
  execFileSync(existsSync(beside) ? beside : "softhsm2-util", parameters, { stdio: "pipe" });
}

/** Why SoftHSM cannot be tried here; false when it can. */
async function missing(): Promise<string | false> {
  try {
    // Its library may be there as another package's part, and its program not.
    softhsm("--version");
    if (library === undefined) throw new Error("no library");
  } catch {
    return "SoftHSM is not installed: Debian's package softhsm2";
  }
  try {
    createRequire(installed)("pkcs11js");
    return false;
  } catch {
    return "pkcs11js is not compiled: .ci/run does it, as far as there are python3, make and g++";
  }
}

const cache = process.env["XDG_CACHE_HOME"] || path.join(homedir(), ".cache");
const installed = path.join(
  process.env["SIGNET_TEST_PKCS11JS"] || path.join(cache, "signet-interop", "pkcs11js"),
  "package.json",
);

/** As if it were installed beside the agent, or, without an address, as if it were not. @returns takes it away again */
function besideTheAgent(parent: URL | undefined): () => void {
  const hooks = registerHooks({
    resolve: (specifier, context, next) => {
      if (specifier !== "pkcs11js") return next(specifier, context);
      if (parent === undefined) throw new Error("Cannot find package");
      return next(specifier, { ...context, parentURL: parent.href });
    },
  });
  return () => hooks.deregister();
}

test("without pkcs11js a sentence says what to install", async (t) => {
  t.after(besideTheAgent(undefined));
  await assert.rejects(
    openLibrary("/no/library.so"),
    (error) =>
      error instanceof InvalidKey &&
      /pkcs11js, which is not installed.*npm install.*g\+\+/.test(error.message),
  );
});

const root = path.join(import.meta.dirname, "../../../..");

test("what is tested is what the agent asks for, and npm ci does not bring it", async () => {
  const read = async (file: string) => JSON.parse(await readFile(path.join(root, file), "utf8"));
  const { peerDependencies, peerDependenciesMeta } = await read("packages/signing-agent/package.json");
  const { packages } = await read("interop/pkcs11js/package-lock.json");
  assert.equal(packages["node_modules/pkcs11js"].version, peerDependencies.pkcs11js);
  assert.equal(peerDependenciesMeta.pkcs11js.optional, true);
  const source = await readFile(path.join(import.meta.dirname, "pkcs11-library.ts"), "utf8");
  assert.ok(source.includes(`pkcs11js@${peerDependencies.pkcs11js}`));
  assert.ok(!("node_modules/pkcs11js" in (await read("package-lock.json")).packages));
});

describe("a key in SoftHSM", { skip: await missing() }, () => {
  let folder: string;
  let takeAway = () => {};
  const configured = process.env["SOFTHSM2_CONF"];
  const inToken = (...parameters: string[]) =>
    softhsm("--module", library ?? "", "--pin", "1234", ...parameters);
  before(async () => {
    takeAway = besideTheAgent(pathToFileURL(installed));
    folder = await mkdtemp(path.join(tmpdir(), "signet-agent-"));
    await mkdir(path.join(folder, "tokens"));
    await writeFile(path.join(folder, "softhsm2.conf"), `directories.tokendir = ${folder}/tokens\n`);
    await writeFile(path.join(folder, "pin"), "1234\n", { mode: 0o600 });
    process.env["SOFTHSM2_CONF"] = path.join(folder, "softhsm2.conf");
    // A library keeps its state by process, and another test may have loaded the original: a copy has a state of its own.
    await copyFile(library ?? "", path.join(folder, "libsofthsm2.so"));
    inToken("--init-token", "--free", "--label", "signet", "--so-pin", "5678");
  });
  after(async () => {
    takeAway();
    if (configured === undefined) delete process.env["SOFTHSM2_CONF"];
    else process.env["SOFTHSM2_CONF"] = configured;
    await rm(folder, { recursive: true });
  });

  for (const [index, alg] of agentAlgs.filter((one) => !isMlDsaAlg(one)).entries())
    test(`signs ${alg}`, async () => {
      const privateKey = await generatePrivateKey(alg);
      const file = path.join(folder, `${alg}.pem`);
      await writeFile(file, privateKey.export({ type: "pkcs8", format: "pem" }));
      inToken("--import", file, "--token", "signet", "--label", alg, "--id", `0${index}`);
      const place = {
        library: path.join(folder, "libsofthsm2.so"),
        token: "signet",
        pinFile: path.join(folder, "pin"),
        key: alg,
      };
      const key = agentKey(await openPkcs11Key(place, alg), "SoftHSM");
      const publicKey = createPublicKey(privateKey);
      const texts = Array.from({ length: 20 }, (_, index) => `a.${index}`);
      const signatures = await Promise.all(texts.map((text) => key.sign(text)));
      for (const [index, signature] of signatures.entries())
        assert.equal(checkAgentSignature({ publicKey, alg }, texts[index] ?? "", signature), "good");
      await key.close();
    });

  test("a library that is loaded by another path as well is used as it is", async () => {
    const [library, alias] = ["libsofthsm2.so", "alias.so"].map((name) => path.join(folder, name)) as [
      string,
      string,
    ];
    await symlink(library, alias);
    await openLibrary(library);
    assert.ok((await openLibrary(alias)).C_GetSlotList(true).length > 0);
  });
});
