/** A witness that is killed (SIGKILL) at any moment: it has kept every tree that it has cosigned, and cosigns no other. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { createWitness, witnessLog } from "../testing/witness-log.ts";

/** SIGNET_TEST_WHOLE=1 kills 200 times. */
const KILLS = process.env["SIGNET_TEST_WHOLE"] === "1" ? 200 : 3;
const program = fileURLToPath(new URL("../testing/witness-child.ts", import.meta.url));

test("no cosignature is forgotten, whenever the witness is killed", async (t) => {
  const folder = await mkdtemp(path.join(tmpdir(), "signet-witness-killed-"));
  t.after(() => rm(folder, { recursive: true }));
  const log = witnessLog("log.example/a");
  const { config } = await createWitness(folder, [log.verifierKey]);
  /** The largest tree that somebody has a cosignature of. */
  let cosigned = 0;
  /** What was sent last, whether it was answered or not. */
  let sent = 0;
  for (let kill = 0; kill < KILLS; kill++) {
    const child = spawn(process.execPath, [program, config], { stdio: ["ignore", "pipe", "inherit"] });
    const ended = once(child, "exit");
    const [port = ""] = await once(createInterface({ input: child.stdout }), "line");
    const send = (body: string) => fetch(`http://127.0.0.1:${port}/add-checkpoint`, { method: "POST", body });
    let known = kill === 0 ? await firstTree(send) : await knownTree(send);
    // Killed within three milliseconds of an answer: at any step of the next one.
    for (let left = 1 + Math.floor(Math.random() * 6); ; left--) {
      if (left === 0) setTimeout(() => child.kill("SIGKILL"), Math.random() * 3);
      sent = known + 1;
      const answer = await send(await log.asked(known, sent)).catch(() => undefined);
      if (!answer) break;
      assert.equal(answer.status, 200);
      known = sent;
      cosigned = sent;
    }
    await ended;
  }
  assert.ok(cosigned > KILLS, `${cosigned} cosigned`);

  type Send = (body: string) => Promise<Response>;
  async function firstTree(send: Send): Promise<number> {
    assert.equal((await send(await log.asked(0, 1))).status, 200);
    cosigned = 1;
    return 1;
  }
  /** Each life refuses a fork of what an earlier one has cosigned. */
  async function knownTree(send: Send): Promise<number> {
    const size = Number(await (await send(await log.asked(0, sent + 1, "other"))).text());
    assert.ok(size === cosigned || size === sent, `${size} after ${cosigned}, ${sent}`);
    assert.equal((await send(await log.asked(size, sent + 1, "other"))).status, 422);
    return size;
  }
});
