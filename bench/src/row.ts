/** What a row of the bench is, whatever it measures. */
import type { Bench } from "./bench.ts";
import type { Figure } from "./load/figure.ts";

/** A figure held against its bar of the design's table (quality.md). */
export interface Check {
  readonly what: string;
  readonly value: number;
  /** None: shown, and not judged. */
  readonly bar?: { readonly atLeast: number } | { readonly atMost: number };
  /** `×` for a ratio (default). */
  readonly unit?: string;
}

export interface Measured {
  /** By whom: `bare`, `peer`, `signet`, or the two sides of another comparison. */
  readonly figures: Readonly<Record<string, Figure>>;
  readonly checks: readonly Check[];
  /** What a reader must know to judge the figures. */
  readonly notes?: readonly string[];
  /** Every interval, for the file of the run. */
  readonly intervals?: unknown;
}

export interface Row {
  readonly name: string;
  readonly title: string;
  /** Whether `--scale` measures it, with as much data as the design names. */
  readonly grows?: boolean;
  readonly measure: (bench: Bench) => Promise<Measured>;
}

/**
 * `invalid` when an answer was not the expected one, `not there` when what it measures does not exist, `unmeasured` when a
 * figure is missing (a server left out by `--only`, a system without /proc).
 */
export type Verdict = "pass" | "short" | "invalid" | "unmeasured" | "not there";

export interface RowReport extends Measured {
  readonly name: string;
  readonly title: string;
  readonly verdict: Verdict;
}

/** Thrown by a row whose subject the service does not have (yet). */
export class NotThere extends Error {}
