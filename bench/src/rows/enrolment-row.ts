/**
 * Devices with a key in a file that enrol by code and CSR, beside a bare loop of the same code that reads the CSR, checks the proof
 * of possession and issues.
 */
import type { Bench } from "../bench.ts";
import { startChild } from "../child.ts";
import type { EnrolmentAnswer, EnrolmentQuestion } from "../contestants/enrolment-side.ts";
import { figuresOf, ratioInRounds } from "../load/figure.ts";
import { loadedSide, measureInTurns, type Side } from "../load/in-turns.ts";
import type { Measured, Row } from "../row.ts";

/** More than a server on two cores has done; one that is faster ends its interval early, which costs nothing. */
const bodiesPerSecond = 2_000;
const answerSeconds = 120;

export const enrolmentRow: Row = { name: "enrolment", title: "Device enrolment", measure };

async function measure(bench: Bench): Promise<Measured> {
  const { port, pid, demo, settings } = await bench.unlimited();
  const side = await startChild<EnrolmentQuestion, EnrolmentAnswer>("contestants/enrolment-side.ts", [
    JSON.stringify(settings),
    demo.org,
  ]);
  const newBodies = async (count: number) => {
    const answer = await side.ask({ kind: "bodies", count }, answerSeconds);
    return "bodies" in answer ? answer.bodies : [];
  };
  const bodies = await newBodies(200);
  const bare: Side<"bare"> = {
    name: "bare",
    pids: [side.pid],
    prepare: async (interval) => async () => {
      const answer = await side.ask({ kind: "bare", bodies, ...interval }, answerSeconds);
      if (!("perSecond" in answer)) throw new Error("not the answer to this question");
      const { answers, perSecond } = answer;
      const unknown = { p50: Number.NaN, p95: Number.NaN, p99: Number.NaN, loadBusy: 0 };
      return { requests: answers, answers, seconds: interval.seconds, perSecond, errors: 0, ...unknown };
    },
  };
  const call = { method: "POST", path: `${new URL(demo.issuer).pathname}/devices/enroll` } as const;
  const signet = loadedSide(await bench.load(), { name: "signet", pids: [pid] }, async ({ seconds }) => ({
    ...{ port, call, expectedStatus: 201, expectedText: "BEGIN CERTIFICATE" },
    vary: { kind: "bodies", values: await newBodies(Math.ceil(bodiesPerSecond * seconds)) },
  }));
  const rounds = await measureInTurns<"bare" | "signet">([bare, signet], bench.options);
  return {
    figures: figuresOf(rounds),
    checks: [
      {
        what: "CPU of bare",
        value: ratioInRounds(rounds, "cpuMicros", ["bare", "signet"]),
        bar: { atLeast: 0.6 },
      },
      { what: "rate of bare", value: ratioInRounds(rounds, "perSecond", ["signet", "bare"]) },
    ],
    intervals: rounds,
  };
}
