/** What the rows of one run share: the load process, the three contestants, the length of intervals; started when first asked for. */
import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import {
  createDatabase,
  startPostgres,
  type TestPostgres,
} from "../../packages/server/src/testing/postgres.ts";
import { startChild } from "./child.ts";
import { bareContestant } from "./contestants/bare-contestant.ts";
import type { Contestant, ContestantName } from "./contestants/contestant.ts";
import { peerContestant } from "./contestants/peer-contestant.ts";
import { signetContestant } from "./contestants/signet-contestant.ts";
import { type RunningSignet, startSignet } from "./contestants/signet-server.ts";
import type { Intervals, LoadProcess } from "./load/in-turns.ts";
import type { LoadPlan, LoadResult } from "./load/load-plan.ts";

/** All devices, users and clients of the bench have one address. */
export const noLimits = {
  SIGNET_RATE_LIMITS: ["enrollment-address", "api-client"].map((name) => `${name}=1000000/60`).join(","),
  TRUSTED_PROXIES: "127.0.0.1",
};

export interface BenchOptions extends Intervals {
  readonly only: readonly ContestantName[];
  /** How much data the rows of many organisations, tokens, streams are made of. */
  readonly size: "quick" | "usual" | "scale";
}

export interface Bench {
  readonly options: BenchOptions;
  readonly load: () => Promise<LoadProcess>;
  readonly contestants: () => Promise<readonly Contestant[]>;
  /** The service with limits that one address, one client, does not reach; for the rows of Signet alone. */
  readonly unlimited: () => Promise<RunningSignet>;
  /** The service on a PostgreSQL server of its own, which waits for the disk at every commit. */
  readonly onPostgres: () => Promise<{ readonly signet: RunningSignet; readonly database: TestPostgres }>;
  /** A further database on that server. */
  readonly newPostgresDatabase: () => Promise<string>;
  /** A new folder, removed with everything else at the end. Two rows may ask for one of the same name. */
  readonly newFolder: (name: string) => string;
  /** Before the end: it is large. */
  readonly removeFolder: (path: string) => Promise<void>;
}

export function createBench(options: BenchOptions, folder: string): Bench {
  let load: Promise<LoadProcess> | undefined;
  let contestants: Promise<readonly Contestant[]> | undefined;
  let server: Promise<TestPostgres> | undefined;
  let onPostgres: ReturnType<Bench["onPostgres"]> | undefined;
  const startServer = (): Promise<TestPostgres> => {
    server ??= startPostgres({ isDurable: true });
    return server;
  };
  const newDatabase = async (): Promise<string> => createDatabase((await startServer()).url);
  let unlimited: Promise<RunningSignet> | undefined;
  const newFolder = (name: string): string => mkdtempSync(join(folder, `${name}-`));
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
    unlimited: () => {
      unlimited ??= startSignet(newFolder("unlimited"), { environment: noLimits });
      return unlimited;
    },
    onPostgres: () => {
      onPostgres ??= newDatabase().then(async (databaseUrl) => ({
        signet: await startSignet(newFolder("postgres"), { databaseUrl, environment: noLimits }),
        database: await startServer(),
      }));
      return onPostgres;
    },
    newPostgresDatabase: newDatabase,
    newFolder,
    removeFolder: (path) => rm(path, { recursive: true, force: true }),
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
