import assert from "node:assert/strict";
import { test } from "node:test";
import type { LoadResult } from "./load/load-plan.ts";
import { formatReport, type Round, reportRow } from "./report.ts";

const row = { name: "refresh", title: "Refresh", bars: { bare: 0.7, peer: 2 } };

function result(perSecond: number, more: Partial<LoadResult> = {}): LoadResult {
  const seconds = 2;
  return {
    requests: perSecond * seconds,
    seconds,
    perSecond,
    p50: 1,
    p95: 3,
    p99: 5,
    errors: 0,
    loadBusy: 0.3,
    ...more,
  };
}

function round(bare: number, peer: number, signet: number): Round {
  return { bare: result(bare), peer: result(peer), signet: result(signet) };
}

test("a ratio is the median of the ratios within each round, not the ratio of the medians", () => {
  // A slow moment of the machine (the second round) meets all alike and leaves the ratio as it is.
  const report = reportRow(row, [round(1000, 400, 800), round(500, 200, 400), round(2000, 500, 1700)]);
  assert.equal(report.ratios.bare, 0.8);
  assert.equal(report.ratios.peer, 2);
  assert.equal(report.figures.bare?.perSecond, 1000);
  assert.equal(report.figures.signet?.perSecond, 800);
});

test("a row passes when it reaches both bars exactly", () => {
  assert.equal(reportRow(row, [round(1000, 350, 700)]).verdict, "pass");
});

test("a row is short when it misses one of the two bars", () => {
  assert.equal(reportRow(row, [round(1000, 100, 699)]).verdict, "short");
  assert.equal(reportRow(row, [round(1000, 500, 900)]).verdict, "short");
});

test("one error anywhere makes the row invalid, and the table says which", () => {
  const bad = result(100_000, { errors: 3, firstError: "400 invalid_grant" });
  const report = reportRow(row, [round(1000, 350, 900), { ...round(1000, 350, 0), signet: bad }]);
  assert.equal(report.verdict, "invalid");
  assert.match(formatReport([report]), /Refresh, signet: 3 errors, first: 400 invalid_grant/);
});

test("without one of the three a row is unmeasured, and what was measured is still shown", () => {
  const report = reportRow(row, [{ bare: result(1234), peer: result(500) }]);
  assert.equal(report.verdict, "unmeasured");
  assert.deepEqual(report.ratios, {});
  assert.match(formatReport([report]), /Refresh\s+1,234 \(5\.0 ms\)\s+500 \(5\.0 ms\)\s+-\s+- \(≥ 0\.7\)/);
});

test("a load process that was busy all the time is named as the bottleneck", () => {
  const report = reportRow(row, [{ ...round(1000, 350, 900), bare: result(1000, { loadBusy: 0.99 }) }]);
  assert.match(formatReport([report]), /Refresh, bare: the load process was the bottleneck/);
});
