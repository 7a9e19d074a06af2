/** No nonce is used twice: not by a service that asks twice, nor after a crash, nor from a backup. */
import assert from "node:assert/strict";
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { frostIdentifier } from "@signet/protocol/threshold/group";
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
      return { boot, stock: nonceStock(sealed, boot) };
    };
    return { ...options, open };
  }

  test("each is given once, also when it is asked for several times at once", async () => {
    const { stock } = await (await machine()).open();
    const hiding = (await stock.make(secret, 1))[0]?.hiding ?? "";
    const given = await Promise.all(Array.from({ length: 8 }, () => stock.take([hiding, hiding])));
    assert.equal(given.filter((one) => one.has(hiding)).length, 1);
    assert.equal(await stock.count(), 0);
    assert.equal((await stock.take(["../../boot", "x".repeat(43)])).size, 0);
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
