import assert from "node:assert/strict";
import { test } from "node:test";
import { figuresOf, type Outcome, type Round, ratioInRounds } from "./load/figure.ts";
import { formatReport, reportFailure, reportRow } from "./report.ts";
import { type Check, type Measured, NotThere } from "./row.ts";
import { checksOf } from "./rows/compared-rows.ts";

const row = { name: "refresh", title: "Refresh" };
const bars = { bareCpu: 0.8, bareRate: 0.7, peerCpu: 2 };

function interval(perSecond: number, cpuMicros: number, more: Partial<Outcome> = {}): Outcome {
  const seconds = 2;
  const requests = perSecond * seconds;
  return {
    requests,
    answers: requests,
    seconds,
    perSecond,
    cpuMicros,
    p50: 1,
    p95: 3,
    p99: 5,
    errors: 0,
    loadBusy: 0.3,
    ...more,
  };
}

const round = (bare: Outcome, peer: Outcome, signet: Outcome): Round => ({ bare, peer, signet });
const measured = (rounds: Round[]): Measured => ({
  figures: figuresOf(rounds) as Measured["figures"],
  checks: checksOf(bars, rounds),
});

test("a ratio is the median of the ratios within each round, not the ratio of the medians", () => {
  // A slow moment of the machine (the second round) meets all alike and leaves the ratio as it is.
  const rounds = [
    round(interval(1000, 80), interval(400, 200), interval(800, 100)),
    round(interval(500, 160), interval(200, 400), interval(400, 200)),
    round(interval(2000, 40), interval(500, 90), interval(1700, 45)),
  ];
  assert.equal(ratioInRounds(rounds, "perSecond", ["signet", "bare"]), 0.8);
  assert.equal(ratioInRounds(rounds, "cpuMicros", ["bare", "signet"]), 0.8);
  assert.equal(figuresOf(rounds)["bare"]?.perSecond, 1000);
  assert.equal(figuresOf(rounds)["signet"]?.cpuMicros, 100);
});

test("a processor ratio is what the other uses over what the service uses", () => {
  const [ofBare, , ofPeer] = checksOf(bars, [round(interval(10, 50), interval(10, 400), interval(10, 100))]);
  assert.deepEqual([ofBare?.value, ofPeer?.value], [0.5, 4]);
});

test("a row passes when it reaches every bar exactly, and is short when it misses one", () => {
  const verdict = (signet: Outcome) =>
    reportRow(row, measured([round(interval(1000, 80), interval(350, 200), signet)])).verdict;
  assert.equal(verdict(interval(700, 100)), "pass");
  assert.equal(verdict(interval(699, 100)), "short");
  assert.equal(verdict(interval(700, 101)), "short");
});

test("a bar can be a limit, and a figure without a bar is not judged", () => {
  const verdict = (...checks: Check[]) => reportRow(row, { figures: {}, checks }).verdict;
  const limit = (value: number): Check => ({ what: "CPU", value, bar: { atMost: 26 }, unit: "ms" });
  assert.equal(verdict(limit(26), { what: "more", value: Number.NaN }), "pass");
  assert.equal(verdict(limit(26.1)), "short");
  assert.equal(verdict({ what: "more", value: 1 }), "unmeasured");
  assert.match(formatReport([reportRow(row, { figures: {}, checks: [limit(30)] })]), /CPU 30 ms \(≤ 26\)/);
});

test("one error anywhere makes the row invalid, and the table says which", () => {
  const good = round(interval(1000, 80), interval(350, 400), interval(900, 80));
  const bad = { ...good, signet: interval(100_000, 1, { errors: 3, firstError: "400 invalid_grant" }) };
  const report = reportRow(row, measured([good, bad]));
  assert.equal(report.verdict, "invalid");
  assert.match(formatReport([report]), /Refresh, signet: 3 errors, first: 400 invalid_grant/);
});

test("without one of the three a row is unmeasured, and what was measured is still shown", () => {
  const report = reportRow(row, measured([{ bare: interval(1234, 81.2), peer: interval(500, 200) }]));
  assert.equal(report.verdict, "unmeasured");
  assert.match(formatReport([report]), /bare 81\.2 \(1,234\/s, 5 ms\), peer 200 \(500\/s, 5 ms\)/);
  assert.match(formatReport([report]), /CPU of bare - \(≥ 0\.8\)/);
});

test("where the system tells no processor time the row is unmeasured", () => {
  const rounds = [round(interval(1000, Number.NaN), interval(350, Number.NaN), interval(900, Number.NaN))];
  assert.equal(reportRow(row, measured(rounds)).verdict, "unmeasured");
});

test("a row that fails is invalid and says why, one whose subject does not exist is not there", () => {
  assert.equal(reportFailure(row, new Error("no port")).verdict, "invalid");
  assert.match(formatReport([reportFailure(row, new Error("no port"))]), /Refresh: no port/);
  assert.equal(reportFailure(row, new NotThere("no workers")).verdict, "not there");
});

test("a load process that was busy all the time is named as the bottleneck", () => {
  const busy = round(interval(1000, 80, { loadBusy: 0.99 }), interval(350, 400), interval(900, 80));
  assert.match(
    formatReport([reportRow(row, measured([busy]))]),
    /Refresh, bare: the load process was the bottleneck/,
  );
});
