/**
 * How old a replica is, is measured by our own clock: the end of the primary's log is noted with the time, and the replica is asked how
 * far it has replayed.
 */
import type { Dialect } from "kysely";
import { openKysely } from "./open.ts";
import { type OpenPool, openPostgresPool, postgresDialect } from "./postgres/postgres.ts";
import { chooseServers, REPLICA_ATTRIBUTES, type ServerChoice } from "./postgres/server-addresses.ts";
import {
  hasReached,
  type LogEnd,
  type LogPosition,
  logEndOf,
  replayedBy,
} from "./postgres/write-ahead-log.ts";
import type { Replica, ReplicaState } from "./replica.ts";

export interface ReplicaOptions {
  readonly url: string;
  readonly poolSize: number;
  /** Those of the primary. */
  readonly servers: ServerChoice;
  readonly around?: ((dialect: Dialect) => Dialect) | undefined;
  readonly onState?: ((state: ReplicaState) => void) | undefined;
}

const LOOK_MS = 250;
const MAX_LAG_MS = 1_000;

/** Nothing is asked of either before the first use: most commands have none. */
export function openReplica({ url, poolSize, servers, around, onState }: ReplicaOptions): Replica {
  const replicas = chooseServers(url, REPLICA_ATTRIBUTES);
  const pool = openPool(replicas, poolSize);
  const opened = openKysely((around ?? asIs)(postgresDialect(pool)));
  // Connections of their own: whoever waits in a crowd learns nothing of the log.
  const [primary, looking] = [openOne(servers), openOne(replicas)];
  const lag = lagOf();
  let told: ReplicaState | undefined;
  let timer: NodeJS.Timeout | undefined;
  let looks: Promise<void> | undefined;

  const lookOnce = async () => {
    const at = performance.now();
    const end = await logEndOf(primary.query).catch(() => undefined);
    if (end) lag.noteEnd({ ...end, at });
    lag.noteReplica(await replayedBy(looking.query).catch(() => undefined));
    if (told === lag.state()) return;
    told = lag.state();
    onState?.(told);
  };
  const look = (): Promise<void> => {
    looks ??= lookOnce().finally(() => {
      looks = undefined;
    });
    return looks;
  };
  const watch = () => {
    if (timer) return;
    timer = setInterval(() => void look(), LOOK_MS).unref();
    void look();
  };
  return {
    upTo: (since) => {
      watch();
      return lag.state() === "ok" && (since === undefined || lag.hasReplayed(since))
        ? opened.query
        : undefined;
    },
    position: async () => (await logEndOf(primary.query)).position,
    distrust: lag.distrust,
    state: () => {
      watch();
      return lag.state();
    },
    lagMs: lag.ms,
    look,
    abandon: () => {
      clearInterval(timer);
      for (const one of [pool, primary.pool, looking.pool]) one.abandon();
    },
    close: async () => {
      clearInterval(timer);
      await Promise.all([opened.close(), looking.close(), primary.close()]);
    },
  };
}

/** A minute of looks: a replica that is further behind is known to be so. */
const MAX_NOTED = 240;

interface Noted extends LogEnd {
  /** Before it was asked for: everything that was committed until then is in it. */
  readonly at: number;
}

function lagOf() {
  let noted: Noted[] = [];
  let replayed: LogPosition | undefined;
  /** Everything until then is there. */
  let freshAt = Number.NEGATIVE_INFINITY;
  let answer: "ok" | "away" | "other" = "away";
  const ms = () => performance.now() - freshAt;
  const hasReplayed = (position: LogPosition) => replayed !== undefined && hasReached(replayed, position);
  return {
    ms,
    hasReplayed,
    state: (): ReplicaState => (answer !== "ok" ? answer : ms() <= MAX_LAG_MS ? "ok" : "behind"),
    distrust: () => {
      answer = "away";
    },
    noteEnd: (end: Noted) => {
      noted = [...noted.slice(1 - MAX_NOTED), end];
    },
    /** @param view undefined for a replica that does not answer */
    noteReplica: (view: Awaited<ReturnType<typeof replayedBy>> | undefined) => {
      const last = noted.at(-1);
      if (!view) answer = "away";
      else if (view.position === undefined || (last && last.database !== view.database)) answer = "other";
      // With nothing to compare it with, it is neither.
      else if (last) answer = "ok";
      replayed = answer === "ok" ? view?.position : undefined;
      freshAt = Math.max(
        freshAt,
        ...noted.filter(({ position }) => hasReplayed(position)).map(({ at }) => at),
      );
      noted = noted.filter((one) => one.at > freshAt || one === last);
    },
  };
}

const asIs = (dialect: Dialect): Dialect => dialect;

const openPool = (servers: ServerChoice, poolSize: number): OpenPool =>
  openPostgresPool({ servers, poolSize, mayBeReadOnly: true });

function openOne(servers: ServerChoice) {
  const pool = openPool(servers, 1);
  return { ...openKysely(postgresDialect(pool)), pool };
}
