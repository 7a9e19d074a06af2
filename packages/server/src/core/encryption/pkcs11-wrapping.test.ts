/** Master keys that are kept wrapped by a key in an HSM: SoftHSM here. */
import assert from "node:assert/strict";
import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { readConfig } from "../../config/config.ts";
import { openService } from "../../modules/open-service.ts";
import { runForJson, runInProcess } from "../../testing/command-line.ts";
import { pkcs11jsBeside, type SoftHsm, softHsm, softHsmMissing } from "../../testing/softhsm.ts";
import { readFolderKeys } from "./folder-keys.ts";
import { openPkcs11Wrapping, type Pkcs11Calls, type Pkcs11Location } from "./pkcs11-wrapping.ts";
import { isWrapped, noWrapping, readStoredKey, storedKeyText } from "./stored-key.ts";

const key = Buffer.alloc(32, 7);
const wrapped = Buffer.alloc(60, 8);

test("a kept key is read as it was written, in clear or wrapped, and nothing else is", () => {
  for (const stored of [key, wrapped]) assert.deepEqual(readStoredKey(storedKeyText(stored)), stored);
  assert.deepEqual(readStoredKey(key.toString("hex")), key);
  assert.equal(isWrapped(wrapped), true);
  assert.equal(isWrapped(key), false);
  const text = storedKeyText(wrapped);
  for (const wrong of [text.slice(0, -1), `${text}A`, text.slice("pkcs11.".length), `x${text}`, "pkcs11."])
    assert.equal(readStoredKey(wrong), undefined, wrong);
});

test("without an HSM a wrapped key is refused by name of the setting", () => {
  assert.equal(noWrapping.unwrap(key), key);
  assert.throws(() => noWrapping.unwrap(wrapped), /set SIGNET_MASTER_KEY_PKCS11/);
});

describe("the PIN's file and the package", () => {
  let folder: string;
  let at: Pkcs11Location;
  const noCalls = async () => assert.fail("asked before the PIN was read");
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "signet-pin-"));
    at = { module: "/no/library.so", token: "t", object: "o", pinFile: join(folder, "pin") };
    await writeFile(at.pinFile, "1234\n", { mode: 0o600 });
  });
  after(() => rm(folder, { recursive: true }));

  test("the PIN is read from a file that nobody else can read", async () => {
    await assert.rejects(openPkcs11Wrapping({ ...at, pinFile: "/nowhere" }, noCalls), /no file \/nowhere/);
    await chmod(at.pinFile, 0o644);
    await assert.rejects(openPkcs11Wrapping(at, noCalls), /is readable by others/);
    await chmod(at.pinFile, 0o600);
  });

  test("without pkcs11js a sentence says what to install", async (t) => {
    t.after(pkcs11jsBeside(false));
    await assert.rejects(openPkcs11Wrapping(at), /needs the package pkcs11js.*npm install.*g\+\+/);
  });

  test("names the token that is missing, and a key that is missing or there twice", async () => {
    const calls = (label: string, keys: number) =>
      ({
        C_GetSlotList: () => [Buffer.alloc(1)],
        C_GetTokenInfo: () => ({ label }),
        C_OpenSession: () => Buffer.alloc(1),
        C_Login: () => {},
        C_FindObjectsInit: () => {},
        C_FindObjects: () => Array.from({ length: keys }, () => Buffer.alloc(1)),
        C_FindObjectsFinal: () => {},
      }) as unknown as Pkcs11Calls;
    const open = (label: string, keys: number) => openPkcs11Wrapping(at, async () => calls(label, keys));
    await assert.rejects(open("other", 1), /token t: there is no such token/);
    await assert.rejects(open("t", 0), /it has no secret key labelled o/);
    await assert.rejects(open("t", 2), /more than one secret key/);
  });

  test("a session that the HSM has ended is opened again, and closed when it fails", async () => {
    const open = new Set<number>();
    let opened = 0;
    const act = (session: Buffer) => {
      if (!open.has(session[0] ?? 0)) throw new Error("CKR_SESSION_HANDLE_INVALID");
    };
    const calls = {
      C_GetSlotList: () => [Buffer.alloc(1)],
      C_GetTokenInfo: () => ({ label: "t" }),
      C_OpenSession: () => {
        open.add(++opened);
        return Buffer.from([opened]);
      },
      C_CloseSession: (session: Buffer) => {
        act(session);
        open.delete(session[0] ?? 0);
      },
      C_Login: () => {},
      C_FindObjectsInit: act,
      C_FindObjects: () => [Buffer.alloc(1)],
      C_FindObjectsFinal: act,
      C_EncryptInit: act,
      C_Encrypt: (_: Buffer, plain: Buffer) => Buffer.concat([plain, Buffer.alloc(16)]),
      C_DecryptInit: act,
      C_Decrypt: (_: Buffer, data: Buffer) => {
        if (data.at(-1) !== 0) throw new Error("CKR_ENCRYPTED_DATA_INVALID");
        return data.subarray(0, 32);
      },
    } as unknown as Pkcs11Calls;
    const { wrap, unwrap } = await openPkcs11Wrapping(at, async () => calls);
    const stored = wrap(key);
    open.clear();
    assert.deepEqual(unwrap(stored), key);
    open.clear();
    assert.deepEqual(unwrap(wrap(key)), key);
    for (let times = 0; times < 3; times++)
      assert.throws(() => unwrap(Buffer.alloc(60, 9)), /does not unwrap the master key/);
    assert.equal(open.size, 1, "none is left behind");
  });
});

describe("keys in a data folder, wrapped by SoftHSM", { skip: softHsmMissing() }, () => {
  let hsm: SoftHsm;
  let folder: string;
  const env = (object = "main") => ({
    SIGNET_DATA_DIR: folder,
    SIGNET_MASTER_KEY_PKCS11: hsm.uri(object),
  });
  const content = () => readFile(join(folder, "master.key"), "utf8");
  before(async () => {
    hsm = await softHsm("main", "other");
    folder = await mkdtemp(join(tmpdir(), "signet-wrapped-"));
  });
  after(async () => {
    await rm(folder, { recursive: true, force: true });
    await hsm.close();
  });

  test("a folder in clear is wrapped, serves as before, and rotates", async () => {
    const { id } = await runForJson<{ id: string }>(["org", "create", "--name", "Acme"], {
      SIGNET_DATA_DIR: folder,
    });
    const clear = readFolderKeys(folder)[0];
    const opens = async (object?: string) => {
      const service = await openService(readConfig(env(object)), { onError: assert.fail });
      try {
        return (await service.keys.published(id)).length;
      } finally {
        await service.close();
      }
    };
    const published = await opens();
    await runForJson(["master-key", "wrap"], env());
    assert.match(await content(), /^pkcs11\.[\w-]{80}\n$/);
    assert.ok(!(await content()).includes(clear.toString("base64url")));
    assert.equal(await opens(), published);

    const { code, err } = await runInProcess(["org", "list"], { SIGNET_DATA_DIR: folder });
    assert.deepEqual([code, /set SIGNET_MASTER_KEY_PKCS11/.test(err)], [1, true], err);
    await assert.rejects(opens("other"), /the key other of token signet does not unwrap the master key/);
    await assert.rejects(opens("nothing"), /no secret key labelled nothing/);

    const rotated = await runForJson<{ newKey: boolean }>(["master-key", "rotate"], env());
    assert.equal(rotated.newKey, true);
    for (const name of ["master.key", "master.key.previous"])
      assert.match(await readFile(join(folder, name), "utf8"), /^pkcs11\.[\w-]{80}\n$/, name);
    assert.equal(await opens(), published);
  });

  test("keys of the environment are printed, and a new one need never be in clear", async () => {
    const settings = { ...env(), SIGNET_MASTER_KEY: key.toString("hex") };
    const { keys } = await runForJson<{ keys: string[] }>(["master-key", "wrap"], settings);
    const again = { ...env(), SIGNET_MASTER_KEY: keys[0] ?? "" };
    assert.ok(isWrapped(readConfig(again).masterKey ?? key));
    const before = { SIGNET_MASTER_KEY_PREVIOUS: `${"01".repeat(32)},${"02".repeat(32)}` };
    const { out } = await runInProcess(["master-key", "wrap"], { ...settings, ...before });
    assert.match(
      out,
      /^SIGNET_MASTER_KEY=pkcs11\.\S+\nSIGNET_MASTER_KEY_PREVIOUS=pkcs11\.[^\s,]+,pkcs11\.\S+\n$/,
    );
    const made = await runForJson<{ keys: string[] }>(["master-key", "wrap", "--new"], env());
    assert.match(made.keys.join(), /^pkcs11\.[\w-]{80}$/);
    const { code, err } = await runInProcess(["master-key", "wrap"], { SIGNET_DATA_DIR: folder });
    assert.deepEqual([code, /SIGNET_MASTER_KEY_PKCS11 is not set/.test(err)], [2, true], err);
  });
});
