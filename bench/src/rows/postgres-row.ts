/** The service on PostgreSQL: its processor time and the database's together. */
import type { Bench } from "../bench.ts";
import { contestantOf } from "../contestants/signet-contestant.ts";
import { works } from "../contestants/works.ts";
import { type Figure, figureOf } from "../load/figure.ts";
import { measureInTurns } from "../load/in-turns.ts";
import type { Check, Measured, Row } from "../row.ts";
import { sideOf } from "./compared-rows.ts";

const bars: Readonly<Record<string, number>> = { refresh: 2, introspection: 0.45 };

export const postgresRow: Row = { name: "postgres", title: "On PostgreSQL, service + database", measure };

async function measure(bench: Bench): Promise<Measured> {
  const { signet, database } = await bench.onPostgres();
  const contestant = await contestantOf(signet, [database.pid]);
  const figures: Record<string, Figure> = {};
  const checks: Check[] = [];
  const intervals: Record<string, unknown> = {};
  for (const work of works.filter(({ name }) => name in bars)) {
    const side = await sideOf(work, contestant, await bench.load());
    const rounds = await measureInTurns([side], bench.options);
    const figure = figureOf(rounds.flatMap(({ signet: one }) => one ?? []));
    figures[work.name] = figure;
    checks.push({
      what: work.name,
      value: figure.cpuMicros / 1000,
      unit: "ms",
      bar: { atMost: bars[work.name] ?? 0 },
    });
    intervals[work.name] = rounds;
  }
  return { figures, checks, intervals };
}
