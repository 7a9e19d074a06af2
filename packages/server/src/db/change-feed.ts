/**
 * Tells every node which cached record has changed. PostgreSQL carries the news by NOTIFY, inside the transaction that
 * makes the change, so that it is heard at the commit and never without it. SQLite has one serving process: it hears
 * its own changes directly, and another process's (an operator's command) by the file's data version.
 */
import { sql } from "kysely";
import type { Database, Db } from "./open.ts";
import { listenOnPostgres } from "./postgres/postgres-listener.ts";

const topics = [
  "organisation",
  "application",
  "signing-key",
  "scope",
  "system-account",
  "signing-pool",
  "device-ca",
] as const;
type Topic = (typeof topics)[number];

export interface Change {
  readonly orgId: string;
  readonly topic: Topic;
}

/** `everything` when news may have been missed: drop all that is cached. */
export type ChangeListener = (change: Change | "everything") => void;

export interface ChangeFeed {
  /** Called inside the transaction that makes the change. */
  publish(db: Db, change: Change): Promise<void>;
  subscribe(listener: ChangeListener): void;
  close(): Promise<void>;
}

const CHANNEL = "signet_changes";
const DATA_VERSION_POLL_MS = 100;

export async function openChangeFeed(database: Database): Promise<ChangeFeed> {
  const listeners: ChangeListener[] = [];
  const tell: ChangeListener = (change) => {
    for (const listener of listeners) listener(change);
  };
  const source =
    database.kind === "postgres" ? await postgresSource(database.url, tell) : sqliteSource(database, tell);
  return {
    publish: async (db, change) => {
      await source.publish(db, change);
      tell(change);
    },
    subscribe: (listener) => {
      listeners.push(listener);
    },
    close: source.close,
  };
}

interface Source {
  publish(db: Db, change: Change): Promise<void>;
  close(): Promise<void>;
}

async function postgresSource(url: string, tell: ChangeListener): Promise<Source> {
  const stop = await listenOnPostgres({
    url,
    channel: CHANNEL,
    onMessage: (payload) => tell(parseChange(payload)),
    onGap: () => tell("everything"),
  });
  return {
    publish: async (db, change) => {
      await sql`select pg_notify(${CHANNEL}, ${`${change.topic} ${change.orgId}`})`.execute(db);
    },
    close: stop,
  };
}

function parseChange(payload: string): Change | "everything" {
  const [name, orgId] = payload.split(" ");
  const topic = topics.find((one) => one === name);
  return orgId && topic ? { topic, orgId } : "everything";
}

function sqliteSource(database: Extract<Database, { kind: "sqlite" }>, tell: ChangeListener): Source {
  // Counts the commits of other connections only, and is read from shared memory: microseconds.
  const statement = database.file.prepare("pragma data_version");
  const read = () => Number(statement.get()?.data_version ?? 0);
  let seen = read();
  const timer = setInterval(() => {
    try {
      const version = read();
      if (version === seen) return;
      seen = version;
    } catch {
      // The disk fails: what it says afterwards is looked at anew, and the server goes on.
    }
    tell("everything");
  }, DATA_VERSION_POLL_MS);
  timer.unref();
  return { publish: async () => {}, close: async () => clearInterval(timer) };
}
