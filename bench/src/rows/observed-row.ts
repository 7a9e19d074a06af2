/** What it costs to be observed: metrics that are scraped, traces that are sent, and traces that nobody wants. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { inSpan } from "../../../packages/server/src/telemetry/tracing.ts";
import { freePort } from "../../../packages/server/src/testing/free-port.ts";
import type { Bench } from "../bench.ts";
import { contestantOf } from "../contestants/signet-contestant.ts";
import { startSignet } from "../contestants/signet-server.ts";
import { type WorkName, works } from "../contestants/works.ts";
import { type Figure, figuresOf, ratioInRounds } from "../load/figure.ts";
import { measureInTurns, type Side } from "../load/in-turns.ts";
import type { Check, Measured, Row } from "../row.ts";
import { sideOf } from "./compared-rows.ts";

export const observedRow: Row = { name: "observed", title: "Metrics and traces", measure };

/** A signature's share hides what is beside it; a lookup's does not. */
const WORKS: readonly WorkName[] = ["client-credentials", "introspection"];

/** More than any request asks whether there are traces. */
const CALLS_OF_A_REQUEST = 50;

async function measure(bench: Bench): Promise<Measured> {
  const metricsPort = await freePort();
  const collector = await startCollector();
  const servers = {
    off: await startSignet(bench.newFolder("unobserved")),
    metrics: await startSignet(bench.newFolder("measured"), {
      environment: { SIGNET_METRICS_PORT: String(metricsPort) },
    }),
    traces: await startSignet(bench.newFolder("traced"), {
      environment: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url },
    }),
  };
  const load = await bench.load();
  const figures: Record<string, Figure> = {};
  const checks: Check[] = [];
  const intervals: Record<string, unknown> = {};
  for (const work of works.filter(({ name }) => WORKS.includes(name))) {
    const sides: Side<keyof typeof servers>[] = [];
    for (const name of ["off", "metrics", "traces"] as const) {
      const side = await sideOf(work, { ...(await contestantOf(servers[name])), name }, load);
      sides.push(name === "metrics" ? scraped(side, metricsPort) : side);
    }
    const rounds = await measureInTurns(sides, bench.options);
    const ratio = (name: "metrics" | "traces") => ratioInRounds(rounds, "cpuMicros", [name, "off"]);
    for (const [name, figure] of Object.entries(figuresOf(rounds))) figures[`${work.name} ${name}`] = figure;
    checks.push({ what: `CPU of ${work.name} with metrics`, value: ratio("metrics"), bar: { atMost: 1.02 } });
    checks.push({ what: "with traces", value: ratio("traces") });
    intervals[work.name] = rounds;
  }
  collector.close();
  const cheapest = figures["introspection off"]?.cpuMicros ?? Number.NaN;
  const untraced = 1 + (CALLS_OF_A_REQUEST * nanosecondsOfACall()) / 1_000 / cheapest;
  checks.push({ what: "with traces off", value: untraced, bar: { atMost: 1.005 } });
  return { figures, checks, intervals };
}

/** At each interval, more often than Prometheus does by default; what a scrape costs is the service's. */
const scraped = <Name extends string>(side: Side<Name>, port: number): Side<Name> => ({
  ...side,
  prepare: async (interval) => {
    const run = await side.prepare(interval);
    return async () => {
      const [result, answer] = await Promise.all([run(), fetch(`http://127.0.0.1:${port}/metrics`)]);
      const text = await answer.text();
      if (answer.status !== 200 || !text.includes("signet_http_request_duration_seconds_bucket"))
        throw new Error("the metrics are not there");
      return result;
    };
  },
});

async function startCollector(): Promise<{ url: string; close(): void }> {
  const server = createServer((request, response) => {
    request.resume().once("end", () => response.end());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

const REPEATS = 2_000_000;
const ROUNDS = 5;

/** What it takes to ask for a span that nobody wants: the median of rounds, less the call itself. */
function nanosecondsOfACall(): number {
  const done = Promise.resolve(0);
  const call = (_: unknown) => done;
  const timeOf = (repeat: () => unknown): number => {
    const before = process.hrtime.bigint();
    for (let at = 0; at < REPEATS; at += 1) repeat();
    return Number(process.hrtime.bigint() - before) / REPEATS;
  };
  const rounds = Array.from(
    { length: ROUNDS },
    () => timeOf(() => inSpan("work", call, 1)) - timeOf(() => call(1)),
  );
  return Math.max(0, rounds.sort((one, other) => one - other)[Math.floor(ROUNDS / 2)] ?? Number.NaN);
}
