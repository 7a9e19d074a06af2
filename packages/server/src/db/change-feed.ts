/**
 * Notifies all nodes of changed records, so that caches evict them. PostgreSQL delivers by NOTIFY inside the changing
 * transaction: exactly at its commit. SQLite has one serving process, which sees its own changes directly and those
 * of other processes (CLI commands) by the file's data version.
 */
import { sql } from "kysely";
import type { Database, Db } from "./open.ts";
import { HEARTBEAT_MS, listenOnPostgres } from "./postgres/postgres-listener.ts";
import type { ServerChoice } from "./postgres/server-addresses.ts";

const topics = [
  "organisation",
  "application",
  "signing-key",
  "scope",
  "protected-resource",
  "detail-type",
  "client-policy",
  "system-account",
  "signing-pool",
  "device-ca",
  "entitlement",
] as const;
type Topic = (typeof topics)[number];

export interface Change {
  readonly orgId: string;
  readonly topic: Topic;
}

/** `everything` when changes may have been missed: drop the whole cache. */
export type ChangeListener = (change: Change | "everything") => void;

export interface ChangeFeed {
  /** Called inside the transaction that makes the change. */
  publish(db: Db, change: Change): Promise<void>;
  subscribe(listener: ChangeListener): void;
  /** How long ago, in milliseconds, it was last certain that nothing is missed; 0 while that is now. */
  lagMs(): number;
  close(): Promise<void>;
}

const CHANNEL = "signet_changes";
const DATA_VERSION_POLL_MS = 100;

export async function openChangeFeed(database: Database): Promise<ChangeFeed> {
  const listeners: ChangeListener[] = [];
  const notify: ChangeListener = (change) => {
    for (const listener of listeners) listener(change);
  };
  const source =
    database.kind === "postgres"
      ? await postgresSource(database.listenServers, notify)
      : sqliteSource(database, notify);
  return {
    publish: async (db, change) => {
      await source.publish(db, change);
      notify(change);
    },
    subscribe: (listener) => {
      listeners.push(listener);
    },
    lagMs: source.lagMs,
    close: source.close,
  };
}

interface Source {
  publish(db: Db, change: Change): Promise<void>;
  lagMs(): number;
  close(): Promise<void>;
}

async function postgresSource(servers: ServerChoice, notify: ChangeListener): Promise<Source> {
  let heardAt = performance.now();
  const stop = await listenOnPostgres({
    servers,
    channel: CHANNEL,
    onMessage: (payload) => notify(parseChange(payload)),
    onGap: () => notify("everything"),
    onHeard: () => {
      heardAt = performance.now();
    },
  });
  return {
    publish: async (db, change) => {
      await sql`select pg_notify(${CHANNEL}, ${`${change.topic} ${change.orgId}`})`.execute(db);
    },
    lagMs: () => Math.max(0, performance.now() - heardAt - HEARTBEAT_MS),
    close: stop,
  };
}

function parseChange(payload: string): Change | "everything" {
  const [name, orgId] = payload.split(" ");
  const topic = topics.find((one) => one === name);
  return orgId && topic ? { topic, orgId } : "everything";
}

function sqliteSource(database: Extract<Database, { kind: "sqlite" }>, notify: ChangeListener): Source {
  // Counts commits of other connections only, read from shared memory in microseconds.
  const statement = database.file.prepare("pragma data_version");
  const read = () => Number(statement.get()?.data_version ?? 0);
  let seen = read();
  const timer = setInterval(() => {
    try {
      const version = read();
      if (version === seen) return;
      seen = version;
    } catch {
      // The disk failed: assume changes and continue.
    }
    notify("everything");
  }, DATA_VERSION_POLL_MS);
  timer.unref();
  return { publish: async () => {}, lagMs: () => 0, close: async () => clearInterval(timer) };
}
