import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { test } from "node:test";
import { eventually } from "../../packages/server/src/testing/eventually.ts";

const script = `
import { spawn } from "node:child_process";
import { guardProcess } from ${JSON.stringify(new URL("./process-guard.ts", import.meta.url).href)};
const sleepers = [0, 1, 2].map(() => spawn("sleep", ["60"], { stdio: "ignore" }));
sleepers.map(guardProcess);
sleepers[1].kill();
sleepers[1].once("exit", () => console.log(JSON.stringify(sleepers.map(({ pid }) => pid))));
setInterval(() => {}, 1000);`;

test("kills the processes of a killed test file, and no process that reused an ID", async (t) => {
  const parent = spawn(process.execPath, ["--input-type=module", "--eval", script], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  t.after(() => parent.kill("SIGKILL"));
  const [said] = await once(parent.stdout, "data");
  const [first, ended, last] = JSON.parse(String(said)) as [number, number, number];
  assert.deepEqual([first, ended, last].map(isRunning), [true, false, true]);
  parent.kill("SIGKILL");
  await eventually("both processes have ended", () => !isRunning(first) && !isRunning(last), 30_000);
});

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
