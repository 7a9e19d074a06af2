import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { test } from "node:test";
import { cpuSeconds, readStat, treeTicks } from "./process-cpu.ts";

const line = (pid: number, name: string, parent: number, times: readonly number[]): string =>
  `${pid} (${name}) S ${parent} 1 1 0 -1 4194560 8000 0 0 0 ${times.join(" ")} 20 0 11 0 100 1 1 0`;

test("user and system time are read, those of children that were waited for too, whatever the process is called", () => {
  assert.deepEqual(readStat(line(42, "node) S 1 (x", 7, [10, 5, 2, 1])), { pid: 42, parent: 7, ticks: 18 });
});

test("a tree counts every process below its roots, in whatever order they are listed, and no other", () => {
  const all = [
    { pid: 30, parent: 20, ticks: 4 },
    { pid: 20, parent: 10, ticks: 2 },
    { pid: 10, parent: 1, ticks: 1 },
    { pid: 11, parent: 1, ticks: 100 },
  ];
  assert.equal(treeTicks(all, [10]), 7);
  assert.equal(treeTicks(all, [10, 11]), 107);
});

test("the time of a process and of its child is what they used", {
  skip: process.platform !== "linux",
}, async () => {
  // A shell that waits for its child, which works for as long as it is let.
  const work =
    "const end = process.cpuUsage().user + 300_000; while (process.cpuUsage().user < end); console.log('done')";
  const child = spawn("sh", ["-c", `"${process.execPath}" -e "${work}"; read line`]);
  await once(child.stdout, "data");
  const used = cpuSeconds([child.pid ?? 0]);
  child.stdin.end();
  assert.ok(used >= 0.3 && used < 3, `${used} s`);
});
