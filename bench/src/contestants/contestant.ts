import type { Call } from "../load/load-plan.ts";
import type { SeedKind, Work } from "./works.ts";

export type ContestantName = "bare" | "peer" | "signet";

/** Where and how a contestant does the work of one row. */
export type Target = {
  port: number;
  /** Its processes, without those that they started. */
  pids: readonly number[];
  call: Call;
  expectedText: string;
  /** Makes that many fresh values for the row's changing field. */
  seed: (kind: SeedKind, count: number) => Promise<string[]>;
};

/** A server under measurement, already started. */
export type Contestant = { name: ContestantName; target: (work: Work) => Promise<Target> };

/** Making the codes of one interval takes a while where each needs a request of its own. */
export const seedSeconds = 120;
