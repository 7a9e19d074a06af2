/**
 * The connections of a pool, watched for silent loss: a firewall, a frozen host or a dropped route leaves a connection open
 * that never answers again, and TCP notices after a quarter of an hour. Whatever waits for a second is compared with what
 * the server says on a new connection.
 */
import { Socket } from "node:net";
import pg from "pg";
import type { ServerChoice } from "./server-addresses.ts";
import { type ServerView, viewFromNewConnection } from "./server-view.ts";

export interface WatchedConnection {
  readonly client: pg.Client;
  readonly socket: Socket;
  readonly number: number;
  /** Of its server. */
  readonly url: string;
  isConnected: boolean;
  /** Since when its server owes an answer: the greeting, or a statement's result. Undefined while it owes none. */
  owedSince: number | undefined;
  lastAnswerAt: number;
  /** Checked out by a request. */
  isInUse: boolean;
  /** Not handed out again. */
  isBroken: boolean;
  /**
   * Whether the server process behind it is always the same one, which keeps what it has prepared; a pooler in transaction mode
   * gives each transaction another. Undefined until it is asked.
   */
  keepsStatements: boolean | undefined;
  /** Its server takes no writes, and there are others that may. */
  isUnwanted: boolean;
  /** What its server committed last, the synchronous standby has not. */
  isUnreplicated: boolean;
}

export interface WatchedConnections {
  /** For `pg.Pool`, which constructs its clients with it. */
  readonly Client: typeof pg.Client;
  of(client: pg.ClientBase): WatchedConnection | undefined;
  all(): Iterable<WatchedConnection>;
  /** Cuts those that no request uses: they may be as dead as the one that was found out. */
  cutIdle(): void;
  /** Cuts those, and each of the others when its request is done. */
  replaceAll(): void;
  /** Cuts all, those too that the pool makes from now on for whoever waits: all fail at once. */
  abandon(): void;
  stop(): void;
}

const LOOK_MS = 500;
/** Most statements take a few milliseconds; what takes this long is looked at, and left alone if it runs. */
const SUSPICIOUS_MS = 1_000;

export function watchConnections(servers: ServerChoice): WatchedConnections {
  const watched = new Map<pg.ClientBase, WatchedConnection>();
  let count = 0;
  let isAbandoned = false;

  const construct = (config: pg.ClientConfig): pg.Client => {
    const socket = new Socket();
    const url = servers.current();
    const client = new pg.Client({ ...config, connectionString: url, stream: () => socket });
    const now = performance.now();
    const states = { isConnected: false, owedSince: now, lastAnswerAt: now, isInUse: true, isBroken: false };
    const unasked = { keepsStatements: undefined, isUnwanted: false, isUnreplicated: false };
    const connection: WatchedConnection = { client, socket, number: count++, url, ...states, ...unasked };
    watched.set(client, connection);
    client.on("notice", ({ routine }) => {
      // The server's function: its words are in the server's language.
      if (routine === "SyncRepWaitForLSN") connection.isUnreplicated = true;
    });
    socket.once("close", () => watched.delete(client));
    if (isAbandoned) setImmediate(() => socket.destroy());
    return client;
  };

  const cutIdle = () => {
    for (const one of watched.values()) if (!one.isInUse) cut(one);
  };
  const watch = setInterval(lookAt(watched, cutIdle), LOOK_MS).unref();

  return {
    // Called with `new`, which an arrow function can't be.
    Client: function Client(config: pg.ClientConfig) {
      return construct(config);
    } as unknown as typeof pg.Client,
    of: (client) => watched.get(client),
    all: () => watched.values(),
    cutIdle,
    replaceAll: () => {
      for (const one of watched.values()) one.isBroken = true;
      cutIdle();
    },
    abandon: () => {
      isAbandoned = true;
      [...watched.values()].forEach(cut);
    },
    stop: () => clearInterval(watch),
  };
}

export function cut(connection: WatchedConnection): void {
  connection.isBroken = true;
  connection.socket.destroy();
}

/** By address, each server's own: none knows the processes of another. */
async function viewsOf(
  connections: readonly WatchedConnection[],
): Promise<Map<string, ServerView | undefined>> {
  const views = [...Map.groupBy(connections, ({ url }) => url)].map(async ([url, suspected]) => {
    const ids = suspected.flatMap((one) => processId(one) ?? []);
    return [url, await viewFromNewConnection(url, ids)] as const;
  });
  return new Map(await Promise.all(views));
}

/** @returns one look, for a timer; nothing happens while the one before is under way */
function lookAt(watched: ReadonlyMap<pg.ClientBase, WatchedConnection>, cutIdle: () => void): () => void {
  /** The answers that were missing at the look before. */
  let missing: ReadonlySet<string> = new Set();
  let isLooking = false;

  const suspects = () => {
    const before = performance.now() - SUSPICIOUS_MS;
    return [...watched.values()].filter(({ owedSince }) => owedSince !== undefined && owedSince < before);
  };
  const look = async () => {
    const suspected = suspects().map((one) => ({ one, answer: answerId(one) }));
    if (suspected.length === 0) return new Set<string>();
    const views = await viewsOf(suspected.map(({ one }) => one));
    const nowMissing = suspected.filter(
      ({ one, answer }) => answerId(one) === answer && isMissing(one, views.get(one.url)),
    );
    // Looked at twice: an answer may have been on its way at the first time.
    const lost = nowMissing.filter(({ answer }) => missing.has(answer));
    for (const { one } of lost) cut(one);
    if (lost.length > 0) cutIdle();
    return new Set(nowMissing.map(({ answer }) => answer));
  };
  return () => {
    if (isLooking) return;
    isLooking = true;
    void look().then((found) => {
      missing = found;
      isLooking = false;
    });
  };
}

/** The server was reached on a new connection, and knows nothing of what this one waits for. */
function isMissing(connection: WatchedConnection, view: ServerView | undefined): boolean {
  if (!view) return false;
  if (!connection.isConnected) return true;
  const id = processId(connection);
  return view.knowsProcesses && id !== undefined && !view.running.has(id);
}

/** Changes with every answer that is waited for. */
const answerId = ({ number, owedSince }: WatchedConnection): string => `${number} ${owedSince}`;

/** The server process behind the connection, as the server told it: a pooler makes one up. */
export const processId = ({ client }: WatchedConnection): number | undefined =>
  (client as unknown as { processID: number | null }).processID ?? undefined;
