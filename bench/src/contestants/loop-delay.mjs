// Loaded into the service by --import: at SIGUSR2 it writes the event loop's delays since the last time to a file.
import { renameSync, writeFileSync } from "node:fs";
import { monitorEventLoopDelay } from "node:perf_hooks";

const RESOLUTION_MS = 1;
const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
delays.enable();
process.on("SIGUSR2", () => {
  // A delay is counted with the timer's own period.
  const p99 = delays.count === 0 ? 0 : delays.percentile(99) / 1e6 - RESOLUTION_MS;
  const file = process.env["BENCH_LOOP_DELAY_FILE"] ?? "";
  writeFileSync(`${file}.new`, JSON.stringify({ p99 }));
  renameSync(`${file}.new`, file);
  delays.reset();
});
