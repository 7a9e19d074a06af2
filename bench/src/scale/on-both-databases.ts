/** What the rows that grow share: a service on each database, with a process beside it that fills it. */
import type { Bench } from "../bench.ts";
import { type Child, startChild } from "../child.ts";
import { type RunningSignet, startSignet } from "../contestants/signet-server.ts";
import type { Figure } from "../load/figure.ts";
import type { Check, Measured } from "../row.ts";
import type { FillAnswer, FillQuestion } from "./fill-side.ts";

export interface Growing {
  readonly database: "sqlite" | "postgres";
  readonly signet: RunningSignet;
  /** Where it lies, with the log. */
  readonly folder: string;
  /** The service's process, and the database's. */
  readonly pids: readonly number[];
  readonly fill: (question: FillQuestion) => Promise<FillAnswer>;
}

const fillSeconds = 3_600;
/** A quick run has no time for both. */
const databasesOf = (size: Bench["options"]["size"]): readonly ("sqlite" | "postgres")[] =>
  size === "quick" ? ["sqlite"] : ["sqlite", "postgres"];

/** Measures on each database; figures and checks name it. The services and their data are gone afterwards. */
export async function onBothDatabases(
  bench: Bench,
  name: string,
  measure: (
    growing: Growing,
  ) => Promise<Pick<Measured, "checks" | "intervals"> & { figures: Record<string, Figure> }>,
  environment: Readonly<Record<string, string>> = {},
): Promise<Measured> {
  const figures: Record<string, Figure> = {};
  const checks: Check[] = [];
  const intervals: Record<string, unknown> = {};
  for (const database of databasesOf(bench.options.size)) {
    const folder = bench.newFolder(`${name}-${database}`);
    const isPostgres = database === "postgres";
    const signet = await startSignet(folder, {
      databaseUrl: isPostgres ? await bench.newPostgresDatabase() : undefined,
      environment,
    });
    const side: Child<FillQuestion, FillAnswer> = await startChild("scale/fill-side.ts", [
      JSON.stringify(signet.settings),
    ]);
    const others = isPostgres ? [(await bench.onPostgres()).database.pid] : [];
    const fill = (question: FillQuestion) => side.ask(question, fillSeconds);
    const measured = await measure({ database, signet, folder, pids: [signet.pid, ...others], fill });
    for (const [who, figure] of Object.entries(measured.figures)) figures[`${database} ${who}`] = figure;
    checks.push(...measured.checks.map((check) => ({ ...check, what: `${database}: ${check.what}` })));
    intervals[database] = measured.intervals;
    side.end();
    await signet.stop();
    await bench.removeFolder(folder);
  }
  return { figures, checks, intervals };
}
