/**
 * `npm run bench:enrolments`: devices with a key in a file that enrol by code and CSR, at one service on SQLite, beside a
 * bare loop of the same code that reads the CSR, checks the proof of possession and issues (docs/benchmarks.md).
 */
import { startChild } from "./child.ts";
import { startSignet } from "./contestants/signet-server.ts";
import type { EnrolmentAnswer, EnrolmentQuestion } from "./enrolment-side.ts";
import type { LoadPlan, LoadResult } from "./load/load-plan.ts";
import { median } from "./load/statistics.ts";
import { runInOwnFolder } from "./own-folder.ts";
import { readServiceBenchOptions, type ServiceBenchOptions } from "./service-bench-options.ts";

/** More than a server on two cores has done; one that is faster ends its interval early, which costs nothing. */
const bodiesPerSecond = 2_000;
const warmUpSeconds = 1;
const answerSeconds = 60;
/** All devices of the bench have one address. */
const limits = { SIGNET_RATE_LIMITS: "enrollment-address=1000000/60" };

async function measure(
  { rounds, seconds, connections, database }: ServiceBenchOptions,
  folder: string,
): Promise<number> {
  const load = await startChild<LoadPlan, LoadResult>("load/load.ts", []);
  const { port, demo, settings } = await startSignet(folder, database, limits);
  const orgId = demo.issuer.split("/").at(-1) ?? "";
  const side = await startChild<EnrolmentQuestion, EnrolmentAnswer>("enrolment-side.ts", [
    JSON.stringify(settings),
    orgId,
  ]);
  const newBodies = async (count: number) => {
    const answer = await side.ask({ kind: "bodies", count }, answerSeconds);
    return "bodies" in answer ? answer.bodies : [];
  };
  const call = { method: "POST", path: `${new URL(demo.issuer).pathname}/devices/enroll` } as const;
  const round = async (length: number) => {
    const values = await newBodies(bodiesPerSecond * length);
    const question = { kind: "bare", bodies: values.slice(0, 500), connections, seconds: length } as const;
    const bare = await side.ask(question, answerSeconds);
    const vary = { kind: "bodies", values } as const;
    const expected = { expectedStatus: 201, expectedText: "BEGIN CERTIFICATE" };
    const plan = { port, call, vary, connections, seconds: length, ...expected };
    const signet = await load.ask(plan, length + answerSeconds);
    return { bare: "perSecond" in bare ? bare.perSecond : 0, signet };
  };
  await round(warmUpSeconds);
  const results: Array<Awaited<ReturnType<typeof round>>> = [];
  for (let at = 0; at < rounds; at += 1) results.push(await round(seconds));
  return report(results);
}

function report(results: ReadonlyArray<{ readonly bare: number; readonly signet: LoadResult }>): number {
  const of = (figure: "perSecond" | "p50" | "p99") => median(results.map(({ signet }) => signet[figure]));
  const ratio = median(results.map(({ bare, signet }) => signet.perSecond / bare));
  console.log(
    `bare      ${median(results.map(({ bare }) => bare))
      .toFixed(0)
      .padStart(8)} a second: parse, proof, issue`,
  );
  console.log(
    `signet    ${of("perSecond").toFixed(0).padStart(8)} enrolments a second, p50 ${of("p50").toFixed(1)} ms, p99 ${of("p99").toFixed(1)} ms`,
  );
  console.log(`of bare   ${ratio.toFixed(2).padStart(8)}`);
  const busy = Math.max(...results.map(({ signet }) => signet.loadBusy));
  if (busy > 0.9) console.log("the load process was the bottleneck: the rate is a lower bound");
  const faults = results.filter(({ signet }) => signet.errors > 0);
  if (faults.length > 0) console.log(`invalid: ${faults[0]?.signet.firstError}`);
  return faults.length > 0 ? 1 : 0;
}

await runInOwnFolder((folder) => measure(readServiceBenchOptions(process.argv.slice(2), 2), folder));
