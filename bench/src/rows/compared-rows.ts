/** The six works that bare, peer and service all do, side by side. */
import type { Bench } from "../bench.ts";
import type { Contestant, ContestantName } from "../contestants/contestant.ts";
import { type Work, works } from "../contestants/works.ts";
import { figuresOf, type Round, ratioInRounds } from "../load/figure.ts";
import { type LoadProcess, loadedSide, measureInTurns, type Side } from "../load/in-turns.ts";
import type { Check, Measured, Row } from "../row.ts";

export const comparedRows: readonly Row[] = works.map((work) => ({
  name: work.name,
  title: work.title,
  measure: (bench) => compare(work, bench),
}));

async function compare(work: Work, bench: Bench): Promise<Measured> {
  const sides: Side<ContestantName>[] = [];
  const load = await bench.load();
  for (const contestant of await bench.contestants()) sides.push(await sideOf(work, contestant, load));
  const rounds = await measureInTurns(sides, bench.options);
  return { figures: figuresOf(rounds), checks: checksOf(work.bars, rounds), intervals: rounds };
}

export async function sideOf<Name extends string>(
  work: Work,
  { name, target }: Pick<Contestant, "target"> & { readonly name: Name },
  load: LoadProcess,
): Promise<Side<Name>> {
  const { port, pids, call, expectedText, seed } = await target(work);
  return loadedSide(load, { name, pids }, async ({ connections, seconds }) => {
    const plan = { port, call, expectedText };
    if (work.seed === undefined) return plan;
    const { kind, field, vary, count } = work.seed;
    const values = await seed(kind, count(connections, seconds));
    return { ...plan, vary: { kind: vary, field, values } };
  });
}

/** A processor ratio says how much less the service uses: what the other uses, over what the service uses. */
export function checksOf(bars: Work["bars"], rounds: readonly Round<ContestantName>[]): Check[] {
  return [
    {
      what: "CPU of bare",
      value: ratioInRounds(rounds, "cpuMicros", ["bare", "signet"]),
      bar: { atLeast: bars.bareCpu },
    },
    {
      what: "rate of bare",
      value: ratioInRounds(rounds, "perSecond", ["signet", "bare"]),
      bar: { atLeast: bars.bareRate },
    },
    {
      what: "CPU of peer",
      value: ratioInRounds(rounds, "cpuMicros", ["peer", "signet"]),
      bar: { atLeast: bars.peerCpu },
    },
  ];
}
