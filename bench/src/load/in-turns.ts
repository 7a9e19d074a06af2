/** Servers that are loaded in turns, so that what else happens on the machine meets them alike. */
import type { Child } from "../child.ts";
import { cpuSeconds } from "../machine/process-cpu.ts";
import type { Interval, Round } from "./figure.ts";
import type { LoadPlan, LoadResult } from "./load-plan.ts";

export type LoadProcess = Child<LoadPlan, LoadResult>;

export interface Intervals {
  readonly rounds: number;
  readonly seconds: number;
  readonly connections: number;
}

/** One of the servers that a row compares. */
export interface Side<Name extends string = string> {
  readonly name: Name;
  /** Its processes, without those that they started; the database's too where that is another one. */
  readonly pids: readonly number[];
  /** The next interval's load; fresh codes and tokens are made here, outside what is measured. */
  readonly plan: (connections: number, seconds: number) => Promise<LoadPlan>;
}

/** What a run may take beyond its interval before it is given up. */
const answerSeconds = 20;

/** Warms each side up, then takes turns. */
export async function measureInTurns<Name extends string>(
  sides: readonly Side<Name>[],
  load: LoadProcess,
  { rounds, seconds, connections }: Intervals,
): Promise<Round<Name>[]> {
  for (const side of sides) await measureInterval(side, load, { seconds: Math.min(1, seconds), connections });
  const measured: Round<Name>[] = [];
  for (let index = 0; index < rounds; index += 1) {
    const round: Round<Name> = {};
    for (const side of sides) round[side.name] = await measureInterval(side, load, { seconds, connections });
    measured.push(round);
  }
  return measured;
}

export async function measureInterval(
  { pids, plan }: Side,
  load: LoadProcess,
  { seconds, connections }: Omit<Intervals, "rounds">,
): Promise<Interval> {
  const planned = await plan(connections, seconds);
  const before = cpuSeconds(pids);
  const result = await load.ask(planned, planned.seconds + answerSeconds);
  return { ...result, cpuMicros: ((cpuSeconds(pids) - before) * 1e6) / result.answers };
}
