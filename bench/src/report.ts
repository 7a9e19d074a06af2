/** Verdicts, and the table that the bench prints. */
import type { Figure } from "./load/figure.ts";
import { type Check, type Measured, NotThere, type Row, type RowReport, type Verdict } from "./row.ts";

type Named = Pick<Row, "name" | "title">;

export function reportRow({ name, title }: Named, measured: Measured): RowReport {
  return { name, title, ...measured, verdict: verdictOf(measured) };
}

/** A row that could not be measured does not keep the others from being measured. */
export function reportFailure({ name, title }: Named, fault: unknown): RowReport {
  const isThere = !(fault instanceof NotThere);
  const note = fault instanceof Error ? fault.message : String(fault);
  return { name, title, figures: {}, checks: [], notes: [note], verdict: isThere ? "invalid" : "not there" };
}

function verdictOf({ figures, checks }: Measured): Verdict {
  if (Object.values(figures).some(({ errors }) => errors > 0)) return "invalid";
  const judged = checks.filter(({ bar }) => bar !== undefined);
  if (judged.length === 0 || judged.some(({ value }) => Number.isNaN(value))) return "unmeasured";
  return judged.every(isReached) ? "pass" : "short";
}

export function isReached({ value, bar }: Check): boolean {
  if (bar === undefined) return true;
  return "atLeast" in bar ? value >= bar.atLeast : value <= bar.atMost;
}

/** Above this the load process may be the bottleneck, and the rate is then a lower bound. */
const busyLimit = 0.95;

/**
 * One block for each row: what each server did, what is held against a bar, the verdict; below it what went wrong, if anything
 * did. As a Markdown table, so that docs/benchmarks.md shows it as it was printed.
 */
export function formatReport(reports: readonly RowReport[]): string {
  const heading = ["", "CPU µs a request (rate, p99)", "held against its bar", ""];
  const lines = [heading, ...reports.map(cells)];
  const widths = heading.map((_cell, column) =>
    Math.max(...lines.map((line) => (line[column] ?? "").length)),
  );
  const text = (line: readonly string[]) =>
    `| ${line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(" | ")} |`;
  const rule = `|${widths.map((width) => "-".repeat(width + 2)).join("|")}|`;
  const [first = heading, ...rest] = lines;
  return [text(first), rule, ...rest.map(text), "", ...reports.flatMap(remarks)].join("\n").trimEnd();
}

function cells({ title, figures, checks, verdict }: RowReport): string[] {
  return [
    title,
    Object.entries(figures)
      .map(([name, figure]) => `${name} ${formatFigure(figure)}`)
      .join(", "),
    checks.map(formatCheck).join(", "),
    verdict,
  ];
}

function formatFigure({ cpuMicros, perSecond, p99 }: Figure): string {
  return `${shortNumber(cpuMicros)} (${shortNumber(perSecond)}/s, ${shortNumber(p99)} ms)`;
}

function formatCheck({ what, value, bar, unit = "×" }: Check): string {
  const figure = (number: number) => `${shortNumber(number)}${unit === "×" ? "" : ` ${unit}`}`;
  if (bar === undefined) return `${what} ${figure(value)}`;
  return `${what} ${figure(value)} (${"atLeast" in bar ? `≥ ${bar.atLeast}` : `≤ ${bar.atMost}`})`;
}

/** Three digits that count, more before the point. */
export const shortNumber = (value: number): string =>
  Number.isNaN(value)
    ? "-"
    : value.toLocaleString("en", { maximumFractionDigits: value < 10 ? 2 : value < 100 ? 1 : 0 });

function remarks({ title, figures, notes = [] }: RowReport): string[] {
  return [
    ...notes.map((note) => `${title}: ${note}`),
    ...Object.entries(figures).flatMap(([name, { errors, firstError, loadBusy }]) => [
      ...(errors > 0 ? [`${title}, ${name}: ${errors} errors, first: ${firstError}`] : []),
      ...(loadBusy > busyLimit ? [`${title}, ${name}: the load process was the bottleneck`] : []),
    ]),
  ];
}
