import type { Child } from "../child.ts";
import type { Contestant, Target } from "../contestants/contestant.ts";
import type { Options } from "../options.ts";
import type { Round } from "../report.ts";
import type { Row } from "../rows.ts";
import type { LoadPlan, LoadResult } from "./load-plan.ts";

export type LoadProcess = Child<LoadPlan, LoadResult>;

const warmUpSeconds = 1;
/** What a run may take beyond its interval before it is given up. */
const answerSeconds = 20;

/**
 * Measures one row: a warm-up of every contestant, then rounds in which they take turns, so that what else happens on
 * the machine meets them alike. Fresh codes and tokens are made outside the measured intervals.
 */
export async function measureRow(
  row: Row,
  contestants: readonly Contestant[],
  load: LoadProcess,
  options: Pick<Options, "rounds" | "seconds" | "connections">,
): Promise<Round[]> {
  const entries: { name: Contestant["name"]; target: Target }[] = [];
  for (const { name, target } of contestants) entries.push({ name, target: await target(row) });
  const run = (target: Target, seconds: number) => interval(row, target, load, { ...options, seconds });
  for (const { target } of entries) await run(target, warmUpSeconds);
  const rounds: Round[] = [];
  for (let index = 0; index < options.rounds; index += 1) {
    const round: Round = {};
    for (const { name, target } of entries) round[name] = await run(target, options.seconds);
    rounds.push(round);
  }
  return rounds;
}

async function interval(
  row: Row,
  target: Target,
  load: LoadProcess,
  { connections, seconds }: { connections: number; seconds: number },
): Promise<LoadResult> {
  const { port, call, expectedText } = target;
  const plan: LoadPlan = { port, call, expectedText, connections, seconds };
  if (row.seed !== undefined) {
    const { kind, field, vary, count } = row.seed;
    plan.vary = { kind: vary, field, values: await target.seed(kind, count(connections, seconds)) };
  }
  return load.ask(plan, seconds + answerSeconds);
}
