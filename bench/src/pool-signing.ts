/**
 * `npm run bench:pool-signing`: what it costs that an agent of the organisation signs, and not the service
 * (docs/benchmarks.md). One service, one client with a pool and one without, one agent as its documentation sets it up.
 */
import { join } from "node:path";
import { startChild } from "./child.ts";
import { startSignet } from "./contestants/signet-server.ts";
import type { LoadPlan, LoadResult } from "./load/load-plan.ts";
import { median } from "./load/statistics.ts";
import { runInOwnFolder } from "./own-folder.ts";
import { startPoolClient } from "./pool-client.ts";
import { readServiceBenchOptions, type ServiceBenchOptions } from "./service-bench-options.ts";

/** The bars of the design: tokens per second, and milliseconds for 95 of 100 at 50 a second. */
const BARS = { perSecond: 500, p95: 50, rate: 50 };

const warmUpSeconds = 2;
const answerSeconds = 20;

type Run = (name: "local" | "pool", more: Partial<LoadPlan>) => Promise<LoadResult>;

async function measure(options: ServiceBenchOptions, folder: string): Promise<number> {
  const load = await startChild<LoadPlan, LoadResult>("load/load.ts", []);
  const signet = await startSignet(folder, options.database);
  const { serviceApp, issuer } = signet.demo;
  const clients = { local: serviceApp, pool: await startPoolClient(signet, join(folder, "agent")) };
  const path = `${new URL(issuer).pathname}/token`;
  const run: Run = (name, more) => {
    const { clientId, clientSecret } = clients[name];
    const form = { grant_type: "client_credentials", client_id: clientId, client_secret: clientSecret };
    const { port } = signet;
    const { connections, seconds } = options;
    const call = { method: "POST", path, form } as const;
    const plan = { port, call, connections, seconds, expectedText: '"access_token":"eyJ', ...more };
    return load.ask(plan, plan.seconds + answerSeconds);
  };
  for (const name of ["local", "pool"] as const) await run(name, { seconds: warmUpSeconds });
  const results: Record<"local" | "pool", { full: LoadResult[]; paced: LoadResult[] }> = {
    local: { full: [], paced: [] },
    pool: { full: [], paced: [] },
  };
  for (let round = 0; round < options.rounds; round += 1)
    for (const name of ["local", "pool"] as const) {
      results[name].full.push(await run(name, {}));
      results[name].paced.push(await run(name, { perSecond: BARS.rate, connections: 10 }));
    }
  return report(results);
}

function report(results: Record<"local" | "pool", { full: LoadResult[]; paced: LoadResult[] }>): number {
  const all = [results.local, results.pool].flatMap(({ full, paced }) => [...full, ...paced]);
  const faults = all.filter(({ errors }) => errors > 0);
  const of = (runs: LoadResult[], figure: "perSecond" | "p50" | "p95" | "p99") =>
    median(runs.map((one) => one[figure]));
  const line = (name: string, { full, paced }: { full: LoadResult[]; paced: LoadResult[] }) =>
    `${name.padEnd(16)}${[
      of(full, "perSecond").toFixed(0),
      ...(["p50", "p95", "p99"] as const).map((figure) => of(paced, figure).toFixed(1)),
    ]
      .map((text) => text.padStart(10))
      .join("")}`;
  console.log(
    `\n${"".padEnd(16)}  tokens/s  p50 ms    p95 ms    p99 ms   (latencies at ${BARS.rate} a second)`,
  );
  console.log(line("own keys", results.local));
  console.log(line("pool, 1 agent", results.pool));
  const { full, paced } = results.pool;
  const added = (figure: "p50" | "p95") => of(paced, figure) - of(results.local.paced, figure);
  console.log(`added by the pool: p50 ${added("p50").toFixed(1)} ms, p95 ${added("p95").toFixed(1)} ms`);
  const isReached = of(full, "perSecond") >= BARS.perSecond && of(paced, "p95") < BARS.p95;
  console.log(`bars: ${BARS.perSecond} tokens/s, p95 ${BARS.p95} ms: ${isReached ? "pass" : "short"}`);
  if (faults.length > 0) console.log(`invalid: ${faults[0]?.firstError}`);
  return faults.length > 0 ? 1 : 0;
}

await runInOwnFolder((folder) => measure(readServiceBenchOptions(process.argv.slice(2), 3), folder));
