import type { ContestantName } from "./contestants/contestant.ts";
import type { LoadResult } from "./load/load-plan.ts";
import { median } from "./load/statistics.ts";

/** What one contestant did in a row: medians over the rounds, rates per second, latencies in milliseconds. */
export type Figure = {
  perSecond: number;
  p50: number;
  p99: number;
  errors: number;
  firstError?: string;
  loadBusy: number;
};

/** One round holds one interval of each contestant, one right after the other. */
export type Round = Partial<Record<ContestantName, LoadResult>>;

export type RowReport = {
  name: string;
  title: string;
  bars: { bare: number; peer: number };
  figures: Partial<Record<ContestantName, Figure>>;
  /** signet's rate as a multiple of the other's: the median of the ratios within each round. */
  ratios: { bare?: number; peer?: number };
  /** `unmeasured` when a contestant did not take part; `invalid` when an answer was not the expected one. */
  verdict: "pass" | "short" | "invalid" | "unmeasured";
};

/** Draws the rounds of a row together and holds them against its bars. */
export function reportRow(
  row: Pick<RowReport, "name" | "title" | "bars">,
  rounds: readonly Round[],
): RowReport {
  const figures: RowReport["figures"] = {};
  for (const name of ["bare", "peer", "signet"] as const) {
    const results = rounds.flatMap((round) => round[name] ?? []);
    if (results.length > 0) figures[name] = figureOf(results);
  }
  const ratios: RowReport["ratios"] = {};
  for (const name of ["bare", "peer"] as const) {
    const ratio = median(rounds.flatMap((round) => ratioOf(round.signet, round[name])));
    if (!Number.isNaN(ratio)) ratios[name] = ratio;
  }
  const { name, title, bars } = row;
  return { name, title, bars, figures, ratios, verdict: verdictOf(figures, ratios, bars) };
}

function figureOf(results: readonly LoadResult[]): Figure {
  const firstError = results.find((result) => result.firstError !== undefined)?.firstError;
  return {
    perSecond: median(results.map((result) => result.perSecond)),
    p50: median(results.map((result) => result.p50)),
    p99: median(results.map((result) => result.p99)),
    errors: results.reduce((sum, result) => sum + result.errors, 0),
    ...(firstError === undefined ? {} : { firstError }),
    loadBusy: Math.max(...results.map((result) => result.loadBusy)),
  };
}

function ratioOf(ours: LoadResult | undefined, theirs: LoadResult | undefined): number[] {
  if (ours === undefined || theirs === undefined || theirs.perSecond === 0) return [];
  return [ours.perSecond / theirs.perSecond];
}

function verdictOf(
  figures: RowReport["figures"],
  ratios: RowReport["ratios"],
  bars: RowReport["bars"],
): RowReport["verdict"] {
  if (Object.values(figures).some((figure) => figure.errors > 0)) return "invalid";
  if (ratios.bare === undefined || ratios.peer === undefined) return "unmeasured";
  return ratios.bare >= bars.bare && ratios.peer >= bars.peer ? "pass" : "short";
}

const columns = [20, 19, 19, 19, 16, 16, 0] as const;

/** The table, one line per row, and under it what went wrong, if anything did. */
export function formatReport(reports: readonly RowReport[]): string {
  const heading = [
    "",
    "bare/s (p99)",
    "peer/s (p99)",
    "signet/s (p99)",
    "of bare (bar)",
    "of peer (bar)",
    "",
  ];
  const lines = [heading, ...reports.map(cells)].map((line) =>
    line
      .map((cell, index) => cell.padEnd(columns[index] ?? 0))
      .join("")
      .trimEnd(),
  );
  return [...lines, ...reports.flatMap(remarks)].join("\n");
}

function cells(report: RowReport): string[] {
  const rate = (figure: Figure | undefined) =>
    figure === undefined
      ? "-"
      : `${Math.round(figure.perSecond).toLocaleString("en")} (${figure.p99.toFixed(1)} ms)`;
  const ratio = (value: number | undefined, bar: number) => `${value?.toFixed(2) ?? "-"} (≥ ${bar})`;
  const { title, figures, ratios, bars, verdict } = report;
  const measured = [rate(figures.bare), rate(figures.peer), rate(figures.signet)];
  return [title, ...measured, ratio(ratios.bare, bars.bare), ratio(ratios.peer, bars.peer), verdict];
}

/** Above this the load process may be the bottleneck, and the rate is then a lower bound. */
const busyLimit = 0.95;

function remarks(report: RowReport): string[] {
  return Object.entries(report.figures).flatMap(([name, figure]) => [
    ...(figure.errors > 0
      ? [`${report.title}, ${name}: ${figure.errors} errors, first: ${figure.firstError}`]
      : []),
    ...(figure.loadBusy > busyLimit ? [`${report.title}, ${name}: the load process was the bottleneck`] : []),
  ]);
}
