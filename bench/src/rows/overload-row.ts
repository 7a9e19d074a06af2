/** Three times as many requests as the service answers: who is refused hears so at once, the rest is answered as fast as ever. */
import type { Bench } from "../bench.ts";
import { startChild } from "../child.ts";
import { insideProbe, readInside } from "../contestants/inside-probe.ts";
import { type RunningSignet, startSignet } from "../contestants/signet-server.ts";
import type { LoadPlan, LoadResult } from "../load/load-plan.ts";
import { median } from "../load/statistics.ts";
import type { Check, Measured, Row } from "../row.ts";

/** At three times the peak, each connection has one request under way: as many as refusals and answers keep busy. */
const FLOOD_CONNECTIONS = 1_500;
const OTHERS_PER_SECOND = 50;
const answerSeconds = 40;

export const overloadRow: Row = { name: "overload", title: "Three times the peak", measure };

async function measure(bench: Bench): Promise<Measured> {
  const folder = bench.newFolder("overload");
  const probe = insideProbe(folder);
  const signet = await startSignet(folder, { environment: probe.environment });
  const [flood, others] = [await startLoad(), await startLoad()];
  const seconds = Math.max(1, bench.options.seconds);
  const { demo } = signet;
  const peakPlan = planFor(signet, demo, { seconds, connections: bench.options.connections });
  const otherPlan = {
    ...planFor(signet, demo.otherOrg, { seconds, connections: 4 }),
    perSecond: OTHERS_PER_SECOND,
  };
  await flood(peakPlan);
  await others(otherPlan);
  const rounds: Round[] = [];
  const delays: number[] = [];
  for (let round = 0; round < bench.options.rounds; round += 1) {
    await readInside(signet.pid, probe.file);
    const peak = await flood(peakPlan);
    delays.push((await readInside(signet.pid, probe.file)).p99);
    const alone = await others(otherPlan);
    const overload = {
      ...peakPlan,
      connections: FLOOD_CONNECTIONS,
      perSecond: 3 * peak.perSecond,
      mayRefuse: true,
    };
    const [loaded, beside] = await Promise.all([flood(overload), others({ ...otherPlan, mayRefuse: true })]);
    rounds.push({ peak, alone, loaded, beside });
  }
  await signet.stop();
  const faults = rounds
    .flatMap((round) => Object.values(round))
    .flatMap(({ firstError }) => firstError ?? []);
  if (faults[0] !== undefined) throw new Error(faults[0]);
  return { figures: {}, checks: checksOf(rounds, { seconds, loopDelay: median(delays) }), intervals: rounds };
}

type Round = Record<"peak" | "alone" | "loaded" | "beside", LoadResult>;

function checksOf(
  rounds: readonly Round[],
  { seconds, loopDelay }: { seconds: number; loopDelay: number },
): Check[] {
  const middle = (figure: (round: Round) => number) => median(rounds.map(figure));
  const offered = ({ answers, refused }: LoadResult) => (answers + (refused?.count ?? 0)) / seconds;
  return [
    { what: "peak", value: middle(({ peak }) => peak.perSecond), unit: "/s" },
    { what: "offered, of the peak", value: middle(({ peak, loaded }) => offered(loaded) / peak.perSecond) },
    {
      what: "goodput",
      value: middle(({ peak, loaded }) => loaded.perSecond / peak.perSecond),
      bar: { atLeast: 0.9 },
    },
    // Without any, the next line would say nothing.
    {
      what: "refused, of the offered",
      value: middle(({ loaded }) => (loaded.refused?.count ?? 0) / seconds / offered(loaded)),
      bar: { atLeast: 0.2 },
    },
    {
      what: "p99 of 503",
      value: middle(({ loaded }) => loaded.refused?.p99 ?? 0),
      unit: "ms",
      bar: { atMost: 250 },
    },
    {
      what: "another organisation's rate, of unloaded",
      value: middle(({ alone, beside }) => beside.perSecond / alone.perSecond),
      bar: { atLeast: 0.8 },
    },
    { what: "event-loop delay p99 at the peak", value: loopDelay, unit: "ms", bar: { atMost: 20 } },
  ];
}

async function startLoad(): Promise<(plan: LoadPlan) => Promise<LoadResult>> {
  const child = await startChild<LoadPlan, LoadResult>("load/load.ts", []);
  return (plan) => child.ask(plan, plan.seconds + answerSeconds);
}

function planFor(
  { port }: RunningSignet,
  { issuer, serviceApp }: Pick<RunningSignet["demo"], "issuer" | "serviceApp">,
  interval: Pick<LoadPlan, "seconds" | "connections">,
): LoadPlan {
  const { clientId, clientSecret } = serviceApp;
  const form = { grant_type: "client_credentials", client_id: clientId, client_secret: clientSecret };
  const call = { method: "POST", path: `${new URL(issuer).pathname}/token`, form } as const;
  return { port, call, expectedText: '"access_token":"eyJ', ...interval };
}
