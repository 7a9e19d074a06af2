/** What stands for a replica in tests of pages: a second way to the same database, whose statements are told apart. */
import { openDatabase } from "../../db/open.ts";
import type { Replica } from "../../db/replica.ts";
import { countStatements } from "../probes/counted-statements.ts";

export interface StandInReplica extends Replica {
  /** Those that were read here since the last call. */
  take(): string[];
  /** The position that it has replayed; the primary's is `at`. */
  replayed: bigint;
  at: bigint;
  /** Fails at every statement. */
  isBroken: boolean;
}

export function standInReplica(databaseUrl: string): StandInReplica {
  const { dialect, take } = countStatements();
  const database = openDatabase(databaseUrl, 2, dialect);
  const broken = openDatabase("sqlite::memory:");
  const replica: StandInReplica = {
    ...{ take, at: 5n, replayed: 5n, isBroken: false },
    upTo: (since = 0n) => {
      if (since > replica.replayed) return undefined;
      return replica.isBroken ? broken.query : database.query;
    },
    position: async () => replica.at,
    distrust: () => {},
    state: () => "ok",
    lagMs: () => 0,
    look: async () => {},
    abandon: () => {},
    close: async () => {
      await Promise.all([database.close(), broken.close()]);
    },
  };
  return replica;
}
