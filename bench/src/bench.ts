/** What the rows of one run share: the load process, the three contestants, the length of intervals; started when first asked for. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { startChild } from "./child.ts";
import { bareContestant } from "./contestants/bare-contestant.ts";
import type { Contestant, ContestantName } from "./contestants/contestant.ts";
import { peerContestant } from "./contestants/peer-contestant.ts";
import { signetContestant } from "./contestants/signet-contestant.ts";
import type { Intervals, LoadProcess } from "./load/in-turns.ts";
import type { LoadPlan, LoadResult } from "./load/load-plan.ts";

export interface BenchOptions extends Intervals {
  readonly only: readonly ContestantName[];
  /** How much data the rows of many organisations, tokens, streams are made of. */
  readonly size: "quick" | "usual" | "scale";
}

export interface Bench {
  readonly options: BenchOptions;
  readonly load: () => Promise<LoadProcess>;
  readonly contestants: () => Promise<readonly Contestant[]>;
  /** A new folder, removed with everything else at the end. */
  readonly newFolder: (name: string) => string;
}

export function createBench(options: BenchOptions, folder: string): Bench {
  let load: Promise<LoadProcess> | undefined;
  let contestants: Promise<readonly Contestant[]> | undefined;
  const newFolder = (name: string): string => {
    const made = join(folder, name);
    mkdirSync(made);
    return made;
  };
  return {
    options,
    load: () => {
      load ??= startChild<LoadPlan, LoadResult>("load/load.ts", []);
      return load;
    },
    contestants: () => {
      contestants ??= startContestants(options.only, newFolder);
      return contestants;
    },
    newFolder,
  };
}

async function startContestants(
  only: readonly ContestantName[],
  newFolder: (name: string) => string,
): Promise<readonly Contestant[]> {
  const started: Contestant[] = [];
  if (only.includes("bare")) started.push(bareContestant(newFolder("bare")));
  if (only.includes("peer")) started.push(await peerContestant());
  if (only.includes("signet")) started.push(await signetContestant(newFolder("contestant")));
  return started;
}
