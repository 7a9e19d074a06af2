/**
 * Tells the other nodes that somebody there may be waiting for what has just been written. Told after the commit and
 * never waited for: a call that is lost costs its waiters a moment, until their next look by themselves.
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
  /** Another node called. */
  onCall(topic: string): void;
  /** Calls may have been missed. */
  onGap(): void;
}

const CHANNEL = "signet_wake_calls";
/** PostgreSQL takes 8,000 bytes; a topic has at most a few hundred. */
const LONGEST_PAYLOAD = 7_000;

/** SQLite has one serving process, which wakes its own waiters. */
export async function openWakeCalls(database: Database, hearing: Hearing): Promise<WakeCalls> {
  if (database.kind === "sqlite") return { call: () => {}, close: async () => {} };
  const node = randomUUID();
  const stop = await listenOnPostgres({
    url: database.url,
    channel: CHANNEL,
    onMessage: (payload) => {
      const [sender, ...topics] = payload.split(" ");
      if (sender !== node) topics.forEach(hearing.onCall);
    },
    onGap: hearing.onGap,
  });
  const speaker = newSpeaker(database, node);
  return {
    call: speaker.call,
    close: async () => {
      await speaker.close();
      await stop();
    },
  };
}

/** Many requests at once share one statement: each is a message to every node. */
function newSpeaker(database: Database, node: string): WakeCalls {
  const waiting = new Set<string>();
  let speaking: Promise<void> | undefined;

  const speak = async () => {
    while (waiting.size > 0) {
      const payload = nextPayload(node, waiting);
      // A database that is away has no news either.
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
    if (payload.length + 1 + topic.length > LONGEST_PAYLOAD) break;
    waiting.delete(topic);
    payload += ` ${topic}`;
  }
  return payload;
}
