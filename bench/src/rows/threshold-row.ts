/** What it costs that no machine has the key: a pool of three agents, two of which sign together, beside a pool with one agent. */
import type { Bench } from "../bench.ts";
import { startPoolClient } from "../contestants/pool-client.ts";
import { startThresholdClient } from "../contestants/threshold-client.ts";
import { figureOf, figuresOf, ratioInRounds } from "../load/figure.ts";
import { loadedSide, measureInTurns } from "../load/in-turns.ts";
import type { Measured, Row } from "../row.ts";
import { PACE, pacedSide, tokensOf } from "./pool-row.ts";

const BARS = { rate: 0.5, p95: 2 };

export const thresholdRow: Row = {
  name: "threshold",
  title: "Threshold pool, 2 of 3, beside one agent",
  measure,
};

type Name = "one agent" | "2 of 3" | "one agent at 50/s" | "2 of 3 at 50/s";

async function measure(bench: Bench): Promise<Measured> {
  const signet = await bench.unlimited();
  const one = await startPoolClient(signet, bench.newFolder("agent"));
  const three = await startThresholdClient(signet, bench.newFolder("agents"), "2/3");
  const load = await bench.load();
  const onePids = [signet.pid, one.agentPid];
  const threePids = [signet.pid, ...three.agentPids];
  const tokens = (app: { clientId: string; clientSecret: string }) => tokensOf(signet, app);
  const sides = [
    loadedSide<Name>(load, { name: "one agent", pids: onePids }, async () => tokens(one)),
    loadedSide<Name>(load, { name: "2 of 3", pids: threePids }, async () => tokens(three)),
    pacedSide<Name>(load, { name: "one agent at 50/s", pids: onePids }, tokens(one)),
    pacedSide<Name>(load, { name: "2 of 3 at 50/s", pids: threePids }, tokens(three)),
  ];
  const rounds = await measureInTurns(sides, bench.options);
  const p95 = (name: Name) => figureOf(rounds.flatMap((round) => round[name] ?? [])).p95;
  return {
    figures: figuresOf(rounds),
    checks: [
      {
        what: "rate, of one agent's",
        value: ratioInRounds(rounds, "perSecond", ["2 of 3", "one agent"]),
        unit: "×",
        bar: { atLeast: BARS.rate },
      },
      {
        what: `p95 at ${PACE}/s, of one agent's`,
        value: p95("2 of 3 at 50/s") / p95("one agent at 50/s"),
        unit: "×",
        bar: { atMost: BARS.p95 },
      },
    ],
    intervals: rounds,
  };
}
