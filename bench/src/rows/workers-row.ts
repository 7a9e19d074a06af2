/** Several processes on one machine (`SIGNET_WORKERS`, with PostgreSQL): a request must not cost more than in one process. */
import type { Bench } from "../bench.ts";
import { contestantOf } from "../contestants/signet-contestant.ts";
import { startSignet } from "../contestants/signet-server.ts";
import { works } from "../contestants/works.ts";
import { type Figure, figuresOf, ratioInRounds } from "../load/figure.ts";
import { measureInTurns, measureInterval } from "../load/in-turns.ts";
import { processesBelow } from "../machine/process-cpu.ts";
import { type Check, type Measured, NotThere, type Row } from "../row.ts";
import { sideOf } from "./compared-rows.ts";

const WORKERS = 2;

export const workersRow: Row = { name: "workers", title: `${WORKERS} workers on PostgreSQL`, measure };

async function measure(bench: Bench): Promise<Measured> {
  const { signet: one, database } = await bench.onPostgres();
  const several = await startSignet(bench.newFolder("workers"), {
    databaseUrl: await bench.newPostgresDatabase(),
    environment: { SIGNET_WORKERS: String(WORKERS) },
  });
  // A version that does not know the variable ignores it.
  if (processesBelow([several.pid]).length <= WORKERS) {
    await several.stop();
    throw new NotThere(`SIGNET_WORKERS=${WORKERS} starts one process`);
  }
  const figures: Record<string, Figure> = {};
  const checks: Check[] = [];
  const intervals: Record<string, unknown> = {};
  for (const work of works.filter(({ name }) => name === "client-credentials" || name === "refresh")) {
    const sides = [];
    for (const [name, server] of [["one", one] as const, ["several", several] as const])
      sides.push(
        await sideOf(work, { ...(await contestantOf(server, [database.pid])), name }, await bench.load()),
      );
    // Each process compiles what it runs: two need twice the time of one to be warm.
    for (const side of sides)
      await measureInterval(side, { ...bench.options, seconds: WORKERS * bench.options.seconds });
    const rounds = await measureInTurns(sides, bench.options);
    for (const [name, figure] of Object.entries(figuresOf(rounds))) figures[`${work.name} ${name}`] = figure;
    checks.push({
      what: `CPU of ${work.name}, of one process`,
      value: ratioInRounds(rounds, "cpuMicros", ["several", "one"]),
      bar: { atMost: 1.05 },
    });
    intervals[work.name] = rounds;
  }
  return { figures, checks, intervals };
}
