/** An agent that is killed (SIGKILL) at any moment, and a service that asks for every nonce again: none is given twice. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { createSealingKey } from "./sealed-folder.ts";

/** SIGNET_TEST_WHOLE=1 kills 200 times. */
const KILLS = process.env["SIGNET_TEST_WHOLE"] === "1" ? 200 : 4;
const program = fileURLToPath(new URL("../testing/nonce-child.ts", import.meta.url));

test("no nonce is given twice, whenever the agent is killed", async (t) => {
  const root = await mkdtemp(path.join(tmpdir(), "signet-killed-"));
  t.after(() => rm(root, { recursive: true }));
  const sealingKeyFile = path.join(root, "sealing-key");
  await createSealingKey(sealingKeyFile);
  const made: string[] = [];
  const given = new Set<string>();
  for (let kill = 0; kill < KILLS; kill++) {
    await live(2 + Math.floor(Math.random() * 12));
  }
  assert.ok(made.length > KILLS && given.size > 0, `${made.length} made, ${given.size} given`);

  /** Killed within three milliseconds of a line: at any step of what it is asked for. */
  async function live(lines: number): Promise<void> {
    const child = spawn(process.execPath, [program, path.join(root, "threshold"), sealingKeyFile], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    const ended = once(child, "exit");
    child.stdin.on("error", () => {});
    let left = lines;
    const ask = () => child.stdin.write(`${made.join(" ")}\n`);
    for await (const line of createInterface({ input: child.stdout })) {
      const [said, hiding = ""] = line.split(" ");
      if (said === "made") made.push(hiding);
      if (said === "gave") {
        assert.ok(!given.has(hiding), `${hiding} was given twice`);
        given.add(hiding);
      }
      ask();
      if (--left === 0) setTimeout(() => child.kill("SIGKILL"), Math.random() * 3);
    }
    await ended;
  }
});
