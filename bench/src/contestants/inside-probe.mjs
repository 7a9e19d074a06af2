// Loaded into the service by --import: at SIGUSR2 it writes what only the process itself knows to a file, and counts anew.
import { renameSync, writeFileSync } from "node:fs";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

const RESOLUTION_MS = 1;
const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
delays.enable();

/** What is in use once what nobody can reach is collected. */
function heapInUse() {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc");
  collect();
  collect();
  return process.memoryUsage().heapUsed;
}

process.on("SIGUSR2", () => {
  // A delay is counted with the timer's own period.
  const p99 = delays.count === 0 ? 0 : delays.percentile(99) / 1e6 - RESOLUTION_MS;
  const file = process.env["BENCH_PROBE_FILE"] ?? "";
  writeFileSync(`${file}.new`, JSON.stringify({ p99, heap: heapInUse() }));
  renameSync(`${file}.new`, file);
  delays.reset();
});
