// `npm run bench`: the bare limit, the peer and the service side by side on this machine (docs/benchmarks.md).
import { writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { startChild } from "./child.ts";
import { bareContestant } from "./contestants/bare-contestant.ts";
import type { Contestant } from "./contestants/contestant.ts";
import { peerContestant } from "./contestants/peer-contestant.ts";
import { signetContestant } from "./contestants/signet-contestant.ts";
import type { LoadPlan, LoadResult } from "./load/load-plan.ts";
import { measureRow } from "./load/measure.ts";
import { help, type Options, readOptions } from "./options.ts";
import { runInOwnFolder } from "./own-folder.ts";
import { formatReport, type Round, type RowReport, reportRow } from "./report.ts";

/** Measures every selected row and prints the table. @returns the exit code */
async function bench(options: Options, folder: string): Promise<number> {
  const load = await startChild<LoadPlan, LoadResult>("load/load.ts", []);
  const contestants: Contestant[] = [];
  if (options.only.includes("bare")) contestants.push(bareContestant(folder));
  if (options.only.includes("peer")) contestants.push(await peerContestant());
  if (options.only.includes("signet")) contestants.push(await signetContestant(folder));
  const reports: RowReport[] = [];
  const rounds: Record<string, Round[]> = {};
  for (const row of options.rows) {
    console.error(`${row.title}: ${options.rounds} rounds of ${options.seconds} s`);
    const measured = await measureRow(row, contestants, load, options);
    rounds[row.name] = measured;
    reports.push(reportRow(row, measured));
  }
  console.log(`\n${formatReport(reports)}`);
  if (options.json !== undefined) {
    const machine = { node: process.version, cpu: cpus()[0]?.model, cores: cpus().length };
    writeFileSync(options.json, `${JSON.stringify({ machine, options, reports, rounds }, undefined, 2)}\n`);
  }
  return reports.some((report) => report.verdict === "invalid") ? 1 : 0;
}

await runInOwnFolder(async (folder) => {
  const options = readOptions(process.argv.slice(2));
  if (options !== "help") return bench(options, folder);
  console.log(help);
  return 0;
});
