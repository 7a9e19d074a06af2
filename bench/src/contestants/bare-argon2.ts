// The bare limit of password sign-ins as a process: Argon2id with the service's parameters, and nothing else.
import { performance } from "node:perf_hooks";
import { createPasswordHasher } from "../../../packages/server/src/core/passwords/password-hasher.ts";
import { answerQuestions } from "../child-side.ts";
import { percentile } from "../load/statistics.ts";

export type HashQuestion = { connections: number; seconds: number };
export type HashAnswer = {
  answers: number;
  seconds: number;
  latencies: { p50: number; p95: number; p99: number };
};

// As many at once as the service makes.
const hasher = createPasswordHasher({ maxWaiting: 10_000 });
const stored = await hasher.hash("correct horse battery staple", "bench");

answerQuestions<HashQuestion, HashAnswer>({ port: 0 }, async ({ connections, seconds }) => {
  const latencies: number[] = [];
  const start = performance.now();
  const worker = async () => {
    for (let at = start; at < start + seconds * 1000; ) {
      if (!(await hasher.verify(stored, "correct horse battery staple", "bench")))
        throw new Error("wrong password");
      const now = performance.now();
      latencies.push(now - at);
      at = now;
    }
  };
  await Promise.all(Array.from({ length: connections }, worker));
  const took = (performance.now() - start) / 1000;
  latencies.sort((a, b) => a - b);
  const [p50, p95, p99] = [0.5, 0.95, 0.99].map((share) => percentile(latencies, share));
  return {
    answers: latencies.length,
    seconds: took,
    latencies: { p50: p50 ?? 0, p95: p95 ?? 0, p99: p99 ?? 0 },
  };
});
