// `npm run bench`: the bare limit, the peer and the service side by side on this machine (docs/benchmarks.md).
import { createBench } from "./bench.ts";
import { help, type Options, readOptions } from "./options.ts";
import { runInOwnFolder } from "./own-folder.ts";
import { formatReport, reportFailure, reportRow } from "./report.ts";
import { describeMachine, writeResults } from "./results.ts";
import type { RowReport } from "./row.ts";

/** Measures every selected row and prints the table. @returns the exit code */
async function runRows(options: Options, folder: string): Promise<number> {
  const bench = createBench(options, folder);
  const startedAt = new Date();
  const reports: RowReport[] = [];
  for (const row of options.rows) {
    const begun = performance.now();
    reports.push(
      await row.measure(bench).then(
        (measured) => reportRow(row, measured),
        (fault: unknown) => reportFailure(row, fault),
      ),
    );
    console.error(`${row.title}: ${Math.round((performance.now() - begun) / 1000)} s`);
  }
  console.log(`\n${describeMachine()}\n\n${formatReport(reports)}`);
  console.error(`\n${writeResults({ startedAt, options, reports })}`);
  return reports.some(({ verdict }) => verdict === "invalid") ? 1 : 0;
}

await runInOwnFolder(async (folder) => {
  const options = readOptions(process.argv.slice(2));
  if (options !== "help") return runRows(options, folder);
  console.log(help);
  return 0;
});
