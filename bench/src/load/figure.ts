/** What the intervals of a server come to, and how two of them stand to each other. */
import type { LoadResult } from "./load-plan.ts";
import { median } from "./statistics.ts";

export type Outcome = LoadResult & { cpuMicros: number };

/** One round holds one interval of each side, one right after the other. */
export type Round<Name extends string = string> = Partial<Record<Name, Outcome>>;

/** What one server did in a row: medians over the rounds, rates per second, latencies in milliseconds. */
export interface Figure {
  /** Microseconds of processor time per answer, user and system, of the server's processes; NaN where it can't be read. */
  readonly cpuMicros: number;
  readonly perSecond: number;
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
  readonly errors: number;
  readonly firstError?: string;
  readonly loadBusy: number;
}

/** Each side's medians over the rounds. */
export function figuresOf(rounds: readonly Round[]): Record<string, Figure> {
  const names = new Set(rounds.flatMap((round) => Object.keys(round)));
  return Object.fromEntries(
    [...names].map((name) => [name, figureOf(rounds.flatMap((round) => round[name] ?? []))]),
  );
}

export function figureOf(results: readonly Outcome[]): Figure {
  const firstError = results.find((result) => result.firstError !== undefined)?.firstError;
  const middle = (key: "cpuMicros" | "perSecond" | "p50" | "p95" | "p99") =>
    median(results.map((result) => result[key]));
  return {
    cpuMicros: middle("cpuMicros"),
    perSecond: middle("perSecond"),
    p50: middle("p50"),
    p95: middle("p95"),
    p99: middle("p99"),
    errors: results.reduce((sum, result) => sum + result.errors, 0),
    ...(firstError === undefined ? {} : { firstError }),
    loadBusy: Math.max(...results.map((result) => result.loadBusy)),
  };
}

/** The median of `top / bottom` within each round, NaN when one of them did not take part: what is slow for both does not show. */
export function ratioInRounds<Name extends string>(
  rounds: readonly Round<Name>[],
  key: "cpuMicros" | "perSecond" | "p99",
  [top, bottom]: readonly [Name, Name],
): number {
  return median(
    rounds.flatMap((round) => {
      const [above, below] = [round[top]?.[key], round[bottom]?.[key]];
      return above === undefined || !below ? [] : [above / below];
    }),
  );
}
