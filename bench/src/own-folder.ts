/** What every bench ends with: a run in a folder of its own that leaves nothing behind, neither processes nor files. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { killChildren, stopChildren } from "./child.ts";

/** Sets the process's exit code to what `bench` returns, 1 when it throws. */
export async function runInOwnFolder(bench: (folder: string) => Promise<number>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "signet-bench-"));
  process.on("exit", () => {
    killChildren();
    rmSync(folder, { recursive: true, force: true });
  });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => process.exit(1));
  try {
    process.exitCode = await bench(folder);
  } catch (fault) {
    console.error(fault instanceof Error ? fault.message : fault);
    process.exitCode = 1;
  } finally {
    await stopChildren();
  }
}
