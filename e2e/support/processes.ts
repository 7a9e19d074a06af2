/** Processes that come from one of this machine's (Linux, proc(5)). */
import { readdirSync, readFileSync } from "node:fs";

/** With all that have come from them; `parent` is not among them. */
export function processesBelow(parent: number): number[] {
  const pairs = readdirSync("/proc").flatMap((name) =>
    /^\d+$/.test(name) ? [[Number(name), parentOf(name)]] : [],
  );
  const below = (pid: number): number[] =>
    pairs.flatMap(([child = 0, above]) => (above === pid ? [child, ...below(child)] : []));
  return below(parent);
}

/** The second field after the name in parentheses. 0 for one that has ended. */
function parentOf(pid: string): number {
  try {
    return Number(/.*\) \w (\d+)/s.exec(readFileSync(`/proc/${pid}/stat`, "utf8"))?.[1] ?? 0);
  } catch {
    return 0;
  }
}

/** Those that have ended meanwhile are passed over. */
export function signalAll(processes: readonly number[], which: NodeJS.Signals): void {
  for (const pid of processes) {
    try {
      process.kill(pid, which);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
    }
  }
}
