/** Start to ready, on a folder that has been started in before; memory when idle and after load. */
import { performance } from "node:perf_hooks";
import { setTimeout as pause } from "node:timers/promises";
import type { Bench } from "../bench.ts";
import { startPlainNode } from "../contestants/plain-node.ts";
import { contestantOf } from "../contestants/signet-contestant.ts";
import { type RunningSignet, startProcess, startSignet, stopProcess } from "../contestants/signet-server.ts";
import { works } from "../contestants/works.ts";
import { measureInterval } from "../load/in-turns.ts";
import { median } from "../load/statistics.ts";
import { residentBytes } from "../machine/memory.ts";
import { cpuSeconds } from "../machine/process-cpu.ts";
import type { Measured, Row } from "../row.ts";
import { sideOf } from "./compared-rows.ts";

const MEGABYTE = 1024 * 1024;
/** What was used at the start and is garbage by then is not what an idle service holds. */
const IDLE_SECONDS = { quick: 2, usual: 5, scale: 5 };
/** V8 gives back what a load has left a while after it. */
const AFTER_LOAD_SECONDS = { quick: 2, usual: 15, scale: 15 };

export const startRow: Row = { name: "start", title: "Start and memory", measure };

export interface Started {
  readonly cpuSeconds: number;
  readonly wallSeconds: number;
}

async function measure(bench: Bench): Promise<Measured> {
  const folder = bench.newFolder("start");
  const first = await startSignet(folder);
  const starts: Started[] = [];
  for (let round = 0; round < bench.options.rounds; round += 1) {
    await (round === 0 ? first.stop() : undefined);
    starts.push(await measureStart(first, folder));
  }
  const plain = await startPlainNode();
  const { idle, busy, loaded } = await memory(bench, first, folder);
  const idlePlain = residentBytes(plain.pid);
  plain.end();
  return {
    figures: {},
    checks: [
      {
        what: "CPU to ready",
        value: median(starts.map((one) => one.cpuSeconds)),
        unit: "s",
        bar: { atMost: 0.6 },
      },
      {
        what: "time to ready",
        value: median(starts.map((one) => one.wallSeconds)),
        unit: "s",
        bar: { atMost: 0.6 },
      },
      { what: "idle", value: idle / MEGABYTE, unit: "MB", bar: { atMost: 95 } },
      { what: "idle, of Node's hello", value: idle / idlePlain },
      { what: "at the end of a load", value: busy / MEGABYTE, unit: "MB" },
      {
        what: `${AFTER_LOAD_SECONDS[bench.options.size]} s after it`,
        value: loaded / MEGABYTE,
        unit: "MB",
        // A quick run does not wait until V8 has.
        ...(bench.options.size === "quick" ? {} : { bar: { atMost: 140 } }),
      },
    ],
    intervals: { starts, idlePlain, idle, busy, loaded },
  };
}

/** Starts a stopped service again, and stops it. */
export async function measureStart({ settings, port }: RunningSignet, folder: string): Promise<Started> {
  const begun = performance.now();
  const child = await startProcess(settings, { port, logFile: `${folder}/signet.log` });
  const wallSeconds = (performance.now() - begun) / 1000;
  const used = cpuSeconds([child.pid ?? 0]);
  await stopProcess(child);
  return { cpuSeconds: used, wallSeconds };
}

async function memory(bench: Bench, first: RunningSignet, folder: string) {
  const { port, settings } = first;
  const child = await startProcess(settings, { port, logFile: `${folder}/signet.log` });
  const pid = child.pid ?? 0;
  await pause(IDLE_SECONDS[bench.options.size] * 1000);
  const idle = residentBytes(pid);
  const contestant = await contestantOf({ ...first, pid });
  for (const work of works) {
    const side = await sideOf(work, contestant, await bench.load());
    await measureInterval(side, {
      seconds: bench.options.seconds * 2,
      connections: bench.options.connections,
    });
  }
  const busy = residentBytes(pid);
  await pause(AFTER_LOAD_SECONDS[bench.options.size] * 1000);
  const loaded = residentBytes(pid);
  await stopProcess(child);
  return { idle, busy, loaded };
}
