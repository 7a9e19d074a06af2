/** Servers that are loaded in turns, so that what else happens on the machine meets them alike. */
import type { Child } from "../child.ts";
import { cpuSeconds } from "../machine/process-cpu.ts";
import type { Outcome, Round } from "./figure.ts";
import type { LoadPlan, LoadResult } from "./load-plan.ts";

export type LoadProcess = Child<LoadPlan, LoadResult>;

export interface Interval {
  readonly seconds: number;
  readonly connections: number;
}

export interface Intervals extends Interval {
  readonly rounds: number;
}

/** One of the servers that a row compares. */
export interface Side<Name extends string = string> {
  readonly name: Name;
  /** Its processes, without those that they started; the database's too where that is another one. */
  readonly pids: readonly number[];
  /** Makes fresh codes and tokens, outside what is measured; what it returns is the interval. */
  readonly prepare: (interval: Interval) => Promise<() => Promise<LoadResult>>;
}

/** One that the load process loads as the plan says. */
export function loadedSide<Name extends string>(
  load: LoadProcess,
  side: Pick<Side<Name>, "name" | "pids">,
  plan: (interval: Interval) => Promise<Omit<LoadPlan, keyof Interval>>,
): Side<Name> {
  return {
    ...side,
    prepare: async (interval) => {
      const planned: LoadPlan = { ...interval, ...(await plan(interval)) };
      return () => load.ask(planned, planned.seconds + answerSeconds);
    },
  };
}

/** What a run may take beyond its interval before it is given up. */
const answerSeconds = 20;

/** Warms each side up, then takes turns. */
export async function measureInTurns<Name extends string>(
  sides: readonly Side<Name>[],
  { rounds, seconds, connections }: Intervals,
): Promise<Round<Name>[]> {
  for (const side of sides) await measureInterval(side, { seconds: Math.min(1, seconds), connections });
  const measured: Round<Name>[] = [];
  for (let index = 0; index < rounds; index += 1) {
    const round: Round<Name> = {};
    for (const side of sides) round[side.name] = await measureInterval(side, { seconds, connections });
    measured.push(round);
  }
  return measured;
}

export async function measureInterval(
  { pids, prepare }: Side,
  { seconds, connections }: Interval,
): Promise<Outcome> {
  const run = await prepare({ seconds, connections });
  const before = cpuSeconds(pids);
  const result = await run();
  return { ...result, cpuMicros: ((cpuSeconds(pids) - before) * 1e6) / result.answers };
}
