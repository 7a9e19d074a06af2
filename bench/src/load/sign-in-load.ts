// The load of password sign-ins as a process: browsers that open the authorization address, send the form and come back.
import { performance } from "node:perf_hooks";
import { answerQuestions } from "../child-side.ts";
import { signIn } from "../contestants/signet-browser.ts";
import type { LoadResult } from "./load-plan.ts";
import { percentile } from "./statistics.ts";

export type SignInQuestion = {
  url: string;
  redirectUri: string;
  answers: Record<string, string>;
  connections: number;
  seconds: number;
};

async function runSignIns({
  url,
  redirectUri,
  answers,
  connections,
  seconds,
}: SignInQuestion): Promise<LoadResult> {
  const latencies: number[] = [];
  const faults: string[] = [];
  const busy = performance.eventLoopUtilization();
  const start = performance.now();
  const browser = async () => {
    for (let at = start; at < start + seconds * 1000 && faults.length === 0; ) {
      await signIn(url, redirectUri, answers).catch((fault: unknown) => faults.push(String(fault)));
      const now = performance.now();
      latencies.push(now - at);
      at = now;
    }
  };
  await Promise.all(Array.from({ length: connections }, browser));
  // All are counted, and the time until the last one: there are too few to leave any out.
  const took = (performance.now() - start) / 1000;
  latencies.sort((a, b) => a - b);
  const [firstError] = faults;
  return {
    requests: latencies.length,
    answers: latencies.length,
    seconds: took,
    perSecond: latencies.length / took,
    p50: percentile(latencies, 0.5),
    p95: percentile(latencies, 0.95),
    p99: percentile(latencies, 0.99),
    errors: faults.length,
    ...(firstError === undefined ? {} : { firstError }),
    loadBusy: performance.eventLoopUtilization(busy).utilization,
  };
}

answerQuestions<SignInQuestion, LoadResult>({ port: 0 }, runSignIns);
