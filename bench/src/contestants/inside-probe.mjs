// Loaded into the service by --import: at SIGUSR2 it writes what only the process itself knows to a file, and counts anew.
import { renameSync, writeFileSync } from "node:fs";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8";
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

// What V8 keeps at hand for what is soon forgotten, and gives back after a while: it grows in steps of megabytes, with whatever is done.
function youngRoom() {
  const young = getHeapSpaceStatistics().find(({ space_name: name }) => name === "new_space");
  return young === undefined ? 0 : young.physical_space_size - young.space_used_size;
}

process.on("SIGUSR2", () => {
  // A delay is counted with the timer's own period.
  const p99 = delays.count === 0 ? 0 : delays.percentile(99) / 1e6 - RESOLUTION_MS;
  const file = process.env["BENCH_PROBE_FILE"] ?? "";
  writeFileSync(`${file}.new`, JSON.stringify({ p99, heap: heapInUse(), youngRoom: youngRoom() }));
  renameSync(`${file}.new`, file);
  delays.reset();
});
