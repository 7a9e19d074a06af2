/** Memory of a process, as the system counts it (Linux: /proc/PID/status). */
import { readFileSync } from "node:fs";

/** @returns bytes that it has in memory; NaN where the system has no /proc */
export function residentBytes(pid: number): number {
  if (process.platform !== "linux") return Number.NaN;
  const [, kilobytes] = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kilobytes) * 1024;
}
