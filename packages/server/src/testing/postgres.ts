/** A throw-away PostgreSQL server for tests, from the binaries that npm brings: no root, no service, nothing left behind. */
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { chown, mkdtemp, rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import pg from "pg";
import { freePort } from "./free-port.ts";
import { type ServerBinaries, type ServerUser, serverBinaries, serverUser } from "./postgres-binaries.ts";
import { collectLog, startWatched } from "./probes/watched-process.ts";

export type TestPostgres = {
  /** Administrator's address, of the database `postgres`: `postgres://postgres@127.0.0.1:<port>/postgres`. */
  url: string;
  /** The server's processes are below this one. */
  pid: number;
  /** Its data folder. */
  data: string;
  /** Ends all connections, the server and its data folder. */
  stop(): Promise<void>;
};

export type PostgresOptions = {
  /** Whether a commit waits for the disk, as in production. Default false: faster, and a crash loses data. */
  isDurable?: boolean;
  /** Whether a standby can follow it (standby.ts). */
  hasStandby?: boolean;
};

const portAttempts = 3;

/** On a busy machine two seconds may go by before a new connection is there, or a hundred requests at once have had theirs. */
const LONGEST_CONNECT_SECONDS = "30";

/**
 * Starts a server on a free port of 127.0.0.1 (UTF8, locale C, 200 connections, no password) within about two seconds.
 * @throws Error with the server's own words when it does not start
 */
export async function startPostgres(options: PostgresOptions = {}): Promise<TestPostgres> {
  const user = await serverUser();
  for (let attempt = 1; ; attempt += 1) {
    const folder = await mkdtemp(path.join(os.tmpdir(), "signet-postgres-"));
    try {
      if (user) await chown(folder, user.uid, user.gid);
      const binaries = await serverBinaries(folder, user);
      await initialise(binaries, folder, user);
      return await startServer(binaries, folder, user, options);
    } catch (error) {
      await rm(folder, { recursive: true, force: true });
      // Between our look for a free port and the server's start another process may have taken it.
      const isPortTaken = error instanceof Error && error.message.includes("Address already in use");
      if (!isPortTaken || attempt === portAttempts) throw error;
    }
  }
}

/** Makes an empty database, or a copy of `template`, with a random name; gives its address on the server of `adminUrl`. */
export async function createDatabase(adminUrl: string, template?: string): Promise<string> {
  const name = `signet_test_${randomBytes(8).toString("hex")}`;
  // By file: a block at a time through the log, the default, costs five times as much processor time.
  const source =
    template === undefined ? "" : ` TEMPLATE ${pg.escapeIdentifier(template)} STRATEGY FILE_COPY`;
  await runStatement(adminUrl, `CREATE DATABASE ${pg.escapeIdentifier(name)}${source}`);
  const url = new URL(adminUrl);
  url.pathname = `/${name}`;
  url.searchParams.set("connect_timeout", LONGEST_CONNECT_SECONDS);
  return url.href;
}

/** Removes the database that `databaseUrl` names, with the connections it still has; nothing happens if it is gone. */
export async function dropDatabase(adminUrl: string, databaseUrl: string): Promise<void> {
  const name = decodeURIComponent(new URL(databaseUrl).pathname.slice(1));
  await runStatement(adminUrl, `DROP DATABASE IF EXISTS ${pg.escapeIdentifier(name)} WITH (FORCE)`);
}

/** @returns the first value of the first row, on a connection of its own. @throws when there is no answer within two seconds */
export async function firstValue(url: string, statement: string): Promise<unknown> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: 2_000,
    query_timeout: 2_000,
  });
  client.on("error", () => {});
  try {
    await client.connect();
    const { rows } = await client.query({ text: statement, rowMode: "array" });
    return rows[0]?.[0];
  } finally {
    await client.end().catch(() => {});
  }
}

async function runStatement(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

async function initialise(
  binaries: ServerBinaries,
  folder: string,
  user: ServerUser | undefined,
): Promise<void> {
  const options = [
    "--username=postgres",
    "--auth=trust",
    "--encoding=UTF8",
    "--locale=C",
    "--no-sync",
    "--no-instructions",
  ];
  const child = spawn(binaries.initdb, ["-D", path.join(folder, "data"), ...options], {
    cwd: folder,
    env: serverEnvironment(),
    stdio: ["ignore", "ignore", "pipe"],
    ...user,
  });
  const log = collectLog(child);
  const [code] = (await once(child, "close")) as [number | null];
  if (code !== 0) throw new Error(`initdb ended with ${code}: ${log.text}`);
}

/** In `folder`, whose `data` is the server's. It is removed with the server. */
export async function startServer(
  binaries: ServerBinaries,
  folder: string,
  user: ServerUser | undefined,
  options: PostgresOptions,
): Promise<TestPostgres> {
  const port = await freePort();
  const command = [binaries.postgres, "-D", path.join(folder, "data"), ...serverSettings(port, options)];
  const server = startWatched({ command, folder, user, environment: serverEnvironment() });
  await server.said("ready to accept");
  server.letProcessExit();
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  return { url, pid: server.pid, data: path.join(folder, "data"), stop: server.stop };
}

/** Nothing of the caller's environment, whose PG… variables would change what the server does. */
function serverEnvironment(): NodeJS.ProcessEnv {
  return { PATH: process.env["PATH"], LC_ALL: "C", TZ: "UTC" };
}

function serverSettings(port: number, { isDurable = false, hasStandby = false }: PostgresOptions): string[] {
  const settings: Record<string, string> = {
    listen_addresses: "127.0.0.1",
    port: String(port),
    unix_socket_directories: "",
    max_connections: "200",
    timezone: "UTC",
    // Statements that fail on purpose are every test suite's daily bread: the log keeps only the server's own life.
    log_min_messages: "log",
    // Hundreds of databases that live for seconds: nothing to tidy up in them, and a worker for each would look.
    ...(isDurable ? {} : { autovacuum: "off" }),
    jit: "off",
    wal_level: hasStandby ? "replica" : "minimal",
    max_wal_senders: hasStandby ? "4" : "0",
    checkpoint_timeout: "1h",
    ...(isDurable ? {} : { fsync: "off", synchronous_commit: "off", full_page_writes: "off" }),
  };
  return Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
}
