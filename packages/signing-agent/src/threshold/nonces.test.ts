/** No nonce is used twice: not by a service that asks twice, nor after a crash, nor from a backup. */
import assert from "node:assert/strict";
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { frostIdentifier } from "@signet/protocol/threshold/group";
import { openFrostSigner } from "./frost-signer.ts";
import { countBoot, nonceStock } from "./nonces.ts";
import { createSealingKey, openSealedFolder, UnreadableSecret } from "./sealed-folder.ts";

const secret = { identifier: frostIdentifier("a"), signingShare: new Uint8Array(32).fill(1) };

describe("nonces", () => {
  let root: string;
  before(async () => {
    root = await mkdtemp(path.join(tmpdir(), "signet-nonces-"));
  });
  after(() => rm(root, { recursive: true }));

  async function machine() {
    const own = await mkdtemp(path.join(root, "m-"));
    const options = { folder: path.join(own, "threshold"), sealingKeyFile: path.join(own, "sealing-key") };
    await createSealingKey(options.sealingKeyFile);
    const open = async () => {
      const sealed = await openSealedFolder(options);
      const boot = await countBoot(sealed);
      return { boot, stock: nonceStock(sealed, boot, await openFrostSigner()) };
    };
    return { ...options, open };
  }

  test("each is given once, also when it is asked for several times at once", async () => {
    const { folder, open } = await machine();
    const { stock, boot } = await open();
    const hiding = (await stock.make(secret, 1))[0]?.hiding ?? "";
    const given = await Promise.all(Array.from({ length: 8 }, () => stock.take([hiding, hiding])));
    assert.equal(given.filter((one) => one.has(hiding)).length, 1);
    assert.deepEqual(await readdir(path.join(folder, "nonces", boot.id)), []);
    assert.equal((await stock.take(["../../boot", "x".repeat(43)])).size, 0);
  });

  test("those of one file are on no disk once one of them is given, and each is given once", async () => {
    const { folder, open } = await machine();
    const { stock, boot } = await open();
    const made = (await stock.make(secret, 20)).map(({ hiding }) => hiding);
    const files = () => readdir(path.join(folder, "nonces", boot.id));
    assert.equal((await files()).length, 2);
    assert.deepEqual([...(await stock.take(made.slice(0, 1))).keys()], made.slice(0, 1));
    assert.equal((await files()).length, 1);
    const both = await Promise.all([stock.take(made), stock.take(made)]);
    assert.deepEqual(
      both.map((given) => given.size),
      [19, 0],
    );
    assert.deepEqual(await files(), []);
  });

  test("a file that someone else has taken, or changed, gives none", async () => {
    const { folder, open } = await machine();
    const { stock, boot } = await open();
    const [first, second] = [await stock.make(secret, 2), await stock.make(secret, 2)];
    const nonces = path.join(folder, "nonces", boot.id);
    const newest = async () => (await readdir(nonces)).map((name) => path.join(nonces, name));
    const [one = "", other = ""] = await newest();
    await cp(one, other);
    await rm(one);
    const asked = [...first, ...second].map(({ hiding }) => hiding);
    await assert.rejects(stock.take(asked), UnreadableSecret);
    assert.equal((await stock.take(asked)).size, 0);
  });

  test("a start destroys what earlier starts made, and is counted", async () => {
    const one = await machine();
    const first = await one.open();
    const hiding = (await first.stock.make(secret, 1))[0]?.hiding ?? "";
    const second = await one.open();
    assert.equal(second.boot.count, first.boot.count + 1);
    assert.equal((await second.stock.take([hiding])).size, 0);
    await assert.rejects(first.stock.make(secret, 1), { code: "ENOENT" });
  });

  test("a restored backup of the whole folder has none that can be used, and counts a start that was counted before", async () => {
    const one = await machine();
    const first = await one.open();
    const made = await first.stock.make(secret, 3);
    const backup = `${one.folder}-backup`;
    await cp(one.folder, backup, { recursive: true });
    await first.stock.take(made.map(({ hiding }) => hiding));
    const later = await one.open();
    await rm(one.folder, { recursive: true });
    await cp(backup, one.folder, { recursive: true });
    const restored = await one.open();
    assert.equal((await restored.stock.take(made.map(({ hiding }) => hiding))).size, 0);
    // The service knows the later start with this number: it refuses this one (restored_backup).
    assert.equal(restored.boot.count, later.boot.count);
    assert.notEqual(restored.boot.id, later.boot.id);
  });

  test("files on disk show no secret, and a changed or renamed one is refused", async () => {
    const one = await machine();
    const sealed = await openSealedFolder(one);
    await sealed.write("share", { signingShare: "hidden" });
    const file = path.join(one.folder, "share");
    const text = await readFile(file, "utf8");
    assert.ok(!Buffer.from(text, "base64url").includes("hidden"));
    assert.deepEqual(await sealed.read("share"), { signingShare: "hidden" });
    await writeFile(path.join(one.folder, "other"), text, { mode: 0o600 });
    await assert.rejects(sealed.read("other"), UnreadableSecret);
    const changed = Buffer.from(text, "base64url");
    changed[20] = (changed[20] ?? 0) ^ 1;
    await writeFile(file, changed.toString("base64url"), { mode: 0o600 });
    await assert.rejects(sealed.read("share"), UnreadableSecret);
  });
});
