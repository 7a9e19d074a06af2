/**
 * Wakes waiters on other nodes after a commit, without waiting for delivery: a lost notification costs a waiter the
 * time until its next poll.
 */
import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import type { Database } from "./open.ts";
import { listenOnPostgres } from "./postgres/postgres-listener.ts";

export interface WakeCalls {
  /** @param topic without spaces */
  call(topic: string): void;
  close(): Promise<void>;
}

interface Hearing {
  /** Another node sent a notification. */
  onCall(topic: string): void;
  /** Notifications may have been missed. */
  onGap(): void;
}

const CHANNEL = "signet_wake_calls";
/** PostgreSQL allows 8,000 bytes; a topic has a few hundred at most. */
const MAX_PAYLOAD = 7_000;

/** SQLite has one serving process, which wakes its own waiters. */
export async function openWakeCalls(database: Database, hearing: Hearing): Promise<WakeCalls> {
  if (database.kind === "sqlite") return { call: () => {}, close: async () => {} };
  const node = randomUUID();
  const stop = await listenOnPostgres({
    servers: database.listenServers,
    channel: CHANNEL,
    onMessage: (payload) => {
      const [sender, ...topics] = payload.split(" ");
      if (sender !== node) topics.forEach(hearing.onCall);
    },
    onGap: hearing.onGap,
  });
  const speaker = createSender(database, node);
  return {
    call: speaker.call,
    close: async () => {
      await speaker.close();
      await stop();
    },
  };
}

/** Concurrent notifications share one statement. */
function createSender(database: Database, node: string): WakeCalls {
  const waiting = new Set<string>();
  let speaking: Promise<void> | undefined;

  const speak = async () => {
    while (waiting.size > 0) {
      const payload = nextPayload(node, waiting);
      // Ignored: without the database there is nothing to wake for.
      await sql`select pg_notify(${CHANNEL}, ${payload})`.execute(database.query).catch(() => {});
    }
    speaking = undefined;
  };
  return {
    call: (topic) => {
      waiting.add(topic);
      speaking ??= new Promise<void>((resolve) => setImmediate(resolve)).then(speak);
    },
    close: async () => {
      await speaking;
    },
  };
}

function nextPayload(node: string, waiting: Set<string>): string {
  let payload = node;
  for (const topic of waiting) {
    if (payload.length + 1 + topic.length > MAX_PAYLOAD) break;
    waiting.delete(topic);
    payload += ` ${topic}`;
  }
  return payload;
}
