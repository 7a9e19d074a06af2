/**
 * What it costs that an agent of the organisation signs, and not the service: one client with a pool and one without, one agent as
 * its documentation sets it up.
 */
import type { Bench } from "../bench.ts";
import { startPoolClient } from "../contestants/pool-client.ts";
import type { RunningSignet } from "../contestants/signet-server.ts";
import { figureOf, figuresOf } from "../load/figure.ts";
import { type LoadProcess, loadedSide, measureInTurns, type Side } from "../load/in-turns.ts";
import type { LoadPlan } from "../load/load-plan.ts";
import type { Measured, Row } from "../row.ts";

const BARS = { cpuMs: 2.5, perSecond: 500, p95: 50 };
/** The rate at which latencies are read. */
export const PACE = 50;

export const poolRow: Row = { name: "pool", title: "Pool signing, one agent", measure };

type Name = "own keys" | "pool" | "pool at 50/s";

async function measure(bench: Bench): Promise<Measured> {
  const signet = await bench.unlimited();
  const { demo, pid } = signet;
  const client = await startPoolClient(signet, bench.newFolder("agent"));
  const tokens = (app: { clientId: string; clientSecret: string }) => tokensOf(signet, app);
  const load = await bench.load();
  const pids = [pid, client.agentPid];
  const sides = [
    loadedSide<Name>(load, { name: "own keys", pids: [pid] }, async () => tokens(demo.serviceApp)),
    loadedSide<Name>(load, { name: "pool", pids }, async () => tokens(client)),
    pacedSide<Name>(load, { name: "pool at 50/s", pids }, tokens(client)),
  ];
  const rounds = await measureInTurns(sides, bench.options);
  const full = figureOf(rounds.flatMap((round) => round.pool ?? []));
  const paced = figureOf(rounds.flatMap((round) => round["pool at 50/s"] ?? []));
  return {
    figures: figuresOf(rounds),
    checks: [
      {
        what: "service + agent",
        value: full.cpuMicros / 1000,
        unit: "ms a token",
        bar: { atMost: BARS.cpuMs },
      },
      { what: "rate", value: full.perSecond, unit: "/s", bar: { atLeast: BARS.perSecond } },
      { what: `p95 at ${PACE}/s`, value: paced.p95, unit: "ms", bar: { atMost: BARS.p95 } },
    ],
    intervals: rounds,
  };
}

/** Client credentials of an application. */
export const tokensOf = (
  { demo, port }: Pick<RunningSignet, "demo" | "port">,
  app: { readonly clientId: string; readonly clientSecret: string },
) => ({
  port,
  call: {
    method: "POST",
    path: `${new URL(demo.issuer).pathname}/token`,
    form: {
      grant_type: "client_credentials",
      client_id: app.clientId,
      client_secret: app.clientSecret,
    },
  } as const,
  expectedText: '"access_token":"eyJ',
});

export const pacedSide = <Name extends string>(
  load: LoadProcess,
  side: Pick<Side<Name>, "name" | "pids">,
  plan: Omit<LoadPlan, "connections" | "seconds">,
): Side<Name> => ({
  ...side,
  prepare: async ({ seconds }) => {
    const long = Math.max(2, seconds);
    const paced: LoadPlan = { ...plan, connections: 10, perSecond: PACE, seconds: long };
    return () => load.ask(paced, long + 20);
  },
});
