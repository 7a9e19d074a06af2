/** Whether the heap grows with what was answered: tokens, refreshes and introspections, and what is in use after each tenth of them. */
import type { Bench } from "../bench.ts";
import { insideProbe, readInside } from "../contestants/inside-probe.ts";
import { contestantOf } from "../contestants/signet-contestant.ts";
import { startSignet } from "../contestants/signet-server.ts";
import { type WorkName, works } from "../contestants/works.ts";
import { measureInterval, type Side } from "../load/in-turns.ts";
import type { Measured, Row } from "../row.ts";
import { sideOf } from "./compared-rows.ts";

const COUNTS = { quick: 5_000, usual: 50_000, scale: 1_000_000 };
const PARTS = 10;
/** Those that need no codes, which take longer to make than to use. */
const WORKS: readonly WorkName[] = ["client-credentials", "refresh", "introspection"];
const MEGABYTE = 1024 * 1024;

export const heapRow: Row = { name: "heap", title: "Heap over many requests", grows: true, measure };

async function measure(bench: Bench): Promise<Measured> {
  const folder = bench.newFolder("heap");
  const probe = insideProbe(folder);
  const signet = await startSignet(folder, { environment: probe.environment });
  const contestant = await contestantOf(signet);
  const sides: Side[] = [];
  for (const work of works)
    if (WORKS.includes(work.name)) sides.push(await sideOf(work, contestant, await bench.load()));
  const count = COUNTS[bench.options.size];
  const heaps: number[] = [];
  let answered = 0;
  for (let part = 1; part <= PARTS; part += 1) {
    while (answered < (count * part) / PARTS)
      for (const side of sides) answered += await answersOf(side, bench);
    heaps.push((await readInside(signet.pid, probe.file)).heap);
  }
  await signet.stop();
  const [first = Number.NaN] = heaps;
  const last = heaps.at(-1) ?? Number.NaN;
  return {
    figures: {},
    checks: [
      { what: "answers", value: answered, unit: "" },
      { what: `in use after a ${PARTS}th`, value: first / MEGABYTE, unit: "MB" },
      { what: "in use at the end", value: last / MEGABYTE, unit: "MB" },
      { what: "end of a tenth", value: last / first, bar: { atMost: 1.1 } },
    ],
    intervals: { heaps },
  };
}

async function answersOf(side: Side, { options: { seconds, connections } }: Bench): Promise<number> {
  const { answers, firstError } = await measureInterval(side, { seconds, connections });
  if (firstError !== undefined) throw new Error(firstError);
  return answers;
}
