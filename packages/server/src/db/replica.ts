/**
 * A streaming replica of the database (SIGNET_DATABASE_REPLICA_URL), for reads that may be old by a second: what the rest of the service
 * knows of it. open-replica.ts opens it, old-reads.ts reads from it.
 */
import type { Kysely } from "kysely";
import type { LogPosition } from "./postgres/write-ahead-log.ts";
import type { Schema } from "./schema.ts";

/** `other`: it answers, and is no replica of this database. */
export type ReplicaState = "ok" | "behind" | "away" | "other";

export interface Replica {
  /**
   * @param since what has to be there: whoever has changed something reads nowhere else until it is
   * @returns undefined where the primary has to be asked
   */
  upTo(since?: LogPosition): Kysely<Schema> | undefined;
  /** Where the primary's log ends now. */
  position(): Promise<LogPosition>;
  /** It has failed: it is not used until it has answered again. */
  distrust(): void;
  state(): ReplicaState;
  /** By how much a read there may be old; Infinity until it is known. */
  lagMs(): number;
  /** Looks now, whatever the timer does. */
  look(): Promise<void>;
  /** As the primary's: for a stop that can't wait. */
  abandon(): void;
  close(): Promise<void>;
}
