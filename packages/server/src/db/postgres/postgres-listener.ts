/** A LISTEN connection that reconnects by itself, also when it was lost without a word. */
import { Socket } from "node:net";
import pg from "pg";
import { connectionWaitOf } from "./postgres.ts";
import type { ServerChoice } from "./server-addresses.ts";

export interface PostgresListenerOptions {
  readonly servers: ServerChoice;
  /** A constant identifier, never from a request. */
  readonly channel: string;
  onMessage(payload: string): void;
  /** The connection was lost for a while: messages may have been missed. */
  onGap(): void;
  /** The server has answered: nothing that it was told before is missing. */
  onHeard?(): void;
}

const FIRST_RETRY_MS = 100;
const MAX_RETRY_MS = 2_000;
/** A new attempt after this time: one that began while packets were dropped gets no answer later either. */
const RECONNECT_MS = 3_000;
/** A lost listener is a node with old records in its caches. */
export const HEARTBEAT_MS = 2_000;
const ANSWER_MS = 3_000;

/** Resolves with a function that stops listening, once the first LISTEN has been acknowledged. */
export async function listenOnPostgres(options: PostgresListenerOptions): Promise<() => Promise<void>> {
  let stopped = false;
  let current: Listener | undefined;
  let retry: NodeJS.Timeout | undefined;

  const connect = async (connectMs: number) => {
    // Until it listens, `connect` rejects and its caller retries; otherwise there would be two retries.
    let isListening = false;
    const url = options.servers.current();
    current = openListener({ ...options, url }, connectMs, () => {
      if (isListening && !stopped) reconnectSoon(FIRST_RETRY_MS);
    });
    await current.listening.catch((error: unknown) => {
      options.servers.moveOn(url);
      throw error;
    });
    isListening = true;
  };
  const reconnectSoon = (wait: number) => {
    retry = setTimeout(() => {
      connect(RECONNECT_MS).then(
        () => {
          if (!stopped) options.onGap();
        },
        () => {
          if (!stopped) reconnectSoon(Math.min(wait * 2, MAX_RETRY_MS));
        },
      );
    }, wait);
    retry.unref();
  };

  await connectToFirst(options.servers, connect);
  return async () => {
    stopped = true;
    clearTimeout(retry);
    current?.close();
  };
}

/** The first server of several that answers. @throws the last failure */
async function connectToFirst(
  servers: ServerChoice,
  connect: (connectMs: number) => Promise<void>,
): Promise<void> {
  for (let tried = 1; ; tried++) {
    try {
      return await connect(connectionWaitOf(servers.current()));
    } catch (error) {
      if (tried >= servers.count) throw error;
    }
  }
}

interface Listener {
  /** Resolves when the LISTEN is acknowledged. */
  readonly listening: Promise<void>;
  close(): void;
}

/** @param onLost called once when the connection has ended, whoever ended it */
function openListener(
  options: PostgresListenerOptions & { readonly url: string },
  connectMs: number,
  onLost: () => void,
): Listener {
  const socket = new Socket();
  const client = new pg.Client({
    connectionString: options.url,
    stream: () => socket,
    keepAlive: true,
    connectionTimeoutMillis: connectMs,
  });
  let heartbeat: NodeJS.Timeout | undefined;
  let isConnected = false;
  let isLost = false;
  const lose = () => {
    if (isLost) return;
    isLost = true;
    clearTimeout(heartbeat);
    // `pg` leaves `connect` undecided when it is ended meanwhile.
    if (isConnected) client.end().catch(() => {});
    else socket.destroy();
    socket.destroySoon();
    onLost();
  };
  const listen = async (answerMs: number) => {
    await client.query({ text: `listen ${options.channel}`, query_timeout: answerMs } as pg.QueryConfig);
    // What is changed on another server is not told here, however well this one answers.
    if (options.servers.current() !== options.url) throw new Error("another server is used now");
    options.onHeard?.();
    // Again and again: it changes nothing, but that a lost connection is noticed.
    if (!isLost) heartbeat = setTimeout(() => void listen(ANSWER_MS).catch(lose), HEARTBEAT_MS).unref();
  };
  client.on("error", lose);
  client.on("end", lose);
  client.on("notification", ({ payload }) => options.onMessage(payload ?? ""));
  const start = async () => {
    try {
      await client.connect();
      isConnected = true;
      await listen(connectMs);
      if (isLost) throw new Error("the connection was lost");
    } catch (error) {
      lose();
      throw error;
    }
  };
  return { listening: start(), close: lose };
}
