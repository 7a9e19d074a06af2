/**
 * A PKCS#11 token in SoftHSM (Debian's package softhsm2), with pkcs11js as `.ci/run` compiles it outside the checkout;
 * SIGNET_TEST_SOFTHSM and SIGNET_TEST_PKCS11JS name other places.
 */
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { copyFile, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createRequire, registerHooks } from "node:module";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const library = [
  process.env["SIGNET_TEST_SOFTHSM"] ?? "",
  "/usr/lib/softhsm/libsofthsm2.so",
  "/usr/local/lib/softhsm/libsofthsm2.so",
].find((file) => existsSync(file));

const cache = process.env["XDG_CACHE_HOME"] || join(homedir(), ".cache");
const installed = join(
  process.env["SIGNET_TEST_PKCS11JS"] || join(cache, "signet-interop", "pkcs11js"),
  "package.json",
);

/** Why it can't be tried here; false when it can. */
export function softHsmMissing(): string | false {
  try {
    execFileSync("softhsm2-util", ["--version"], { stdio: "pipe" });
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

/** As if pkcs11js were installed beside the server, or not at all. @returns takes it away again */
export function pkcs11jsBeside(isThere: boolean): () => void {
  const hooks = registerHooks({
    resolve: (specifier, context, next) => {
      if (specifier !== "pkcs11js") return next(specifier, context);
      if (!isThere) throw new Error("Cannot find package");
      return next(specifier, { ...context, parentURL: pathToFileURL(installed).href });
    },
  });
  return () => hooks.deregister();
}

export interface SoftHsm {
  readonly folder: string;
  /** The URI of a key in it. */
  uri(object: string): string;
  close(): Promise<void>;
}

/** A token `signet` with AES keys of these labels, which can't be taken out. */
export async function softHsm(...labels: string[]): Promise<SoftHsm> {
  const takeAway = pkcs11jsBeside(true);
  const folder = await mkdtemp(join(tmpdir(), "signet-hsm-"));
  await mkdir(join(folder, "tokens"));
  await writeFile(join(folder, "softhsm2.conf"), `directories.tokendir = ${folder}/tokens\n`);
  await writeFile(join(folder, "pin"), "1234\n", { mode: 0o600 });
  const configured = process.env["SOFTHSM2_CONF"];
  process.env["SOFTHSM2_CONF"] = join(folder, "softhsm2.conf");
  const init = ["--init-token", "--free", "--label", "signet", "--so-pin", "5678", "--pin", "1234"];
  execFileSync("softhsm2-util", init, { stdio: "pipe" });
  // A library keeps its state by process, and another test may have loaded the original: a copy has a state of its own.
  const copy = join(folder, "libsofthsm2.so");
  await copyFile(library ?? "", copy);
  // In a process of its own: this one's library is the service's.
  execFileSync(process.execPath, ["--input-type=commonjs", "--eval", makeKeys(labels)], { stdio: "pipe" });
  return {
    folder,
    uri: (object) =>
      `pkcs11:token=signet;object=${object}?module-path=${copy}&pin-source=${join(folder, "pin")}`,
    close: async () => {
      takeAway();
      if (configured === undefined) delete process.env["SOFTHSM2_CONF"];
      else process.env["SOFTHSM2_CONF"] = configured;
      await rm(folder, { recursive: true });
    },
  };
}

const makeKeys = (labels: readonly string[]): string => `
  const { createRequire } = require("node:module");
  const p = createRequire(${JSON.stringify(installed)})("pkcs11js");
  const calls = new p.PKCS11();
  calls.load(${JSON.stringify(library)});
  calls.C_Initialize({ flags: 2 });
  const slot = calls.C_GetSlotList(true).find((one) => calls.C_GetTokenInfo(one).label.trimEnd() === "signet");
  const session = calls.C_OpenSession(slot, p.CKF_SERIAL_SESSION | p.CKF_RW_SESSION);
  calls.C_Login(session, p.CKU_USER, "1234");
  for (const label of ${JSON.stringify(labels)})
    calls.C_GenerateKey(session, { mechanism: p.CKM_AES_KEY_GEN }, [
      { type: p.CKA_CLASS, value: p.CKO_SECRET_KEY },
      { type: p.CKA_TOKEN, value: true },
      { type: p.CKA_LABEL, value: label },
      { type: p.CKA_VALUE_LEN, value: 32 },
      { type: p.CKA_ENCRYPT, value: true },
      { type: p.CKA_DECRYPT, value: true },
      { type: p.CKA_EXTRACTABLE, value: false },
      { type: p.CKA_SENSITIVE, value: true },
    ]);
`;
