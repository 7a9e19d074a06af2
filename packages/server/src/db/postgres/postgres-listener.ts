/** A connection that only listens, and comes back by itself when it is lost. */
import pg from "pg";
import { connectionWaitOf } from "./postgres.ts";

export interface PostgresListenerOptions {
  readonly url: string;
  /** A plain identifier of ours, never from a request. */
  readonly channel: string;
  onMessage(payload: string): void;
  /** The connection was away for a while: messages may have been missed. */
  onGap(): void;
}

const FIRST_RETRY_MS = 100;
const LONGEST_RETRY_MS = 5_000;

/** Resolves with a function that stops listening, once the first LISTEN has been acknowledged. */
export async function listenOnPostgres(options: PostgresListenerOptions): Promise<() => Promise<void>> {
  let stopped = false;
  let client: pg.Client | undefined;
  let retry: NodeJS.Timeout | undefined;

  const connect = async () => {
    const fresh = new pg.Client({
      connectionString: options.url,
      keepAlive: true,
      connectionTimeoutMillis: Math.max(LONGEST_RETRY_MS, connectionWaitOf(options.url)),
    });
    let isListening = false;
    let isLost = false;
    const lose = () => {
      if (isLost) return;
      isLost = true;
      fresh.end().catch(() => {});
      // Before it listens, whoever called `connect` hears of it and tries again: one of them, or there would be two.
      if (isListening && !stopped) reconnectSoon(FIRST_RETRY_MS);
    };
    fresh.on("error", lose);
    fresh.on("end", lose);
    fresh.on("notification", ({ payload }) => options.onMessage(payload ?? ""));
    try {
      await fresh.connect();
      await fresh.query(`listen ${options.channel}`);
      if (isLost || stopped) throw new Error("the connection is not needed any more");
    } catch (error) {
      lose();
      throw error;
    }
    isListening = true;
    client = fresh;
  };

  const reconnectSoon = (delay: number) => {
    retry = setTimeout(() => {
      connect().then(
        () => options.onGap(),
        () => {
          if (!stopped) reconnectSoon(Math.min(delay * 2, LONGEST_RETRY_MS));
        },
      );
    }, delay);
    retry.unref();
  };

  await connect();
  return async () => {
    stopped = true;
    clearTimeout(retry);
    await client?.end().catch(() => {});
  };
}
