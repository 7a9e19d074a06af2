/** Processor time of processes and all that they started, as the system counts it (Linux: /proc/PID/stat). */
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";

/** One line of /proc/PID/stat: whose child it is, and the time of itself and of the children that it has waited for. */
export interface ProcessTimes {
  readonly pid: number;
  readonly parent: number;
  readonly ticks: number;
}

/** The name stands in brackets and may hold brackets and spaces itself, so fields are counted from the last one. */
export function readStat(line: string): ProcessTimes {
  const fields = line.slice(line.lastIndexOf(")") + 2).split(" ");
  // proc_pid_stat(5): state is field 3, ppid 4, utime 14, stime 15, cutime 16, cstime 17.
  const field = (number: number) => Number(fields[number - 3]);
  return {
    pid: Number.parseInt(line, 10),
    parent: field(4),
    ticks: field(14) + field(15) + field(16) + field(17),
  };
}

/** The time of `roots` and of everything below them. */
export function treeTicks(all: readonly ProcessTimes[], roots: readonly number[]): number {
  const tree = treeOf(all, roots);
  return all.reduce((sum, { pid, ticks }) => sum + (tree.has(pid) ? ticks : 0), 0);
}

function treeOf(all: readonly ProcessTimes[], roots: readonly number[]): ReadonlySet<number> {
  const tree = new Set(roots);
  for (let before = 0; before !== tree.size; ) {
    before = tree.size;
    for (const { pid, parent } of all) if (tree.has(parent)) tree.add(pid);
  }
  return tree;
}

/** @returns ids of the processes, with their own; empty where the system has no /proc */
export function processesBelow(roots: readonly number[]): readonly number[] {
  if (process.platform !== "linux") return [];
  return [...treeOf(runningProcesses(), roots)];
}

let ticksPerSecond: number | undefined;

/** @returns seconds of user and system time so far; NaN where the system has no /proc */
export function cpuSeconds(roots: readonly number[]): number {
  if (process.platform !== "linux") return Number.NaN;
  ticksPerSecond ??= Number(execFileSync("getconf", ["CLK_TCK"], { encoding: "utf8" }));
  return treeTicks(runningProcesses(), roots) / ticksPerSecond;
}

function runningProcesses(): ProcessTimes[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        return readStat(readFileSync(`/proc/${pid}/stat`, "utf8"));
      } catch {
        // It has ended since the folder was listed.
        return [];
      }
    });
}
