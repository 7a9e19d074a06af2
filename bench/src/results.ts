/** The file that a run leaves: the machine, the options, every figure. */
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { cpus, loadavg, totalmem } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import type { Options } from "./options.ts";
import type { RowReport } from "./row.ts";

const folder = fileURLToPath(new URL("../results/", import.meta.url));

export interface Run {
  readonly startedAt: Date;
  readonly options: Options;
  readonly reports: readonly RowReport[];
}

/** How busy the machine was before the bench says how much a rate is worth. */
const [loadBefore = 0] = loadavg();

export function describeMachine(): string {
  const gigabytes = Math.round(totalmem() / 1024 ** 3);
  const processors = cpus();
  return `${processors.length} × ${processors[0]?.model.trim()}, ${gigabytes} GB, Node ${process.versions.node}, load ${loadBefore.toFixed(1)} before the run, commit ${currentCommit()}`;
}

function currentCommit(): string {
  try {
    const git = (...args: string[]) =>
      execFileSync("git", args, { cwd: folder.replace(/results\/$/, ""), encoding: "utf8" }).trim();
    return git("rev-parse", "--short", "HEAD") + (git("status", "--porcelain") === "" ? "" : " and changes");
  } catch {
    return "unknown";
  }
}

/** @returns the file's path */
export function writeResults({ startedAt, options, reports }: Run): string {
  const { rows, ...intervals } = options;
  const file =
    options.json ?? path.join(folder, `${startedAt.toISOString().replaceAll(":", "-").slice(0, 19)}.json`);
  mkdirSync(path.dirname(file), { recursive: true });
  const content = {
    startedAt,
    machine: describeMachine(),
    options: { ...intervals, rows: rows.map(({ name }) => name) },
    reports,
  };
  writeFileSync(file, `${JSON.stringify(content, undefined, 2)}\n`);
  return file;
}
