/**
 * A throw-away PostgreSQL server for tests, from the binaries that npm brings: no root, no service, nothing left behind.
 * The server runs under a small shell that waits on a pipe from this process. When the pipe closes, because `stop` was
 * called or because this process died of whatever cause, the shell shuts the server down and removes its data.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { chown, mkdtemp, rm } from "node:fs/promises";
import { createServer, type Socket } from "node:net";
import os from "node:os";
import path from "node:path";
import pg from "pg";
import { type ServerBinaries, type ServerUser, serverBinaries, serverUser } from "./postgres-binaries.ts";

export type TestPostgres = {
  /** Administrator's address, of the database `postgres`: `postgres://postgres@127.0.0.1:<port>/postgres`. */
  url: string;
  /** Ends all connections, the server and its data folder. */
  stop(): Promise<void>;
};

export type PostgresOptions = {
  /** Whether a commit waits for the disk, as in production. Default false: three times faster, and a crash loses data. */
  isDurable?: boolean;
};

// Arguments: data folder's parent, then the server's command line. Standard input is kept as 3, since a shell gives
// its background commands an empty one. SIGINT is PostgreSQL's fast shutdown.
const watchScript = `
folder=$1; shift
exec 3<&0
"$@" </dev/null 3<&- & server=$!
{ cat <&3; kill -INT "$server"; } >/dev/null 2>&1 & watcher=$!
wait "$server"; status=$?
kill "$watcher" 2>/dev/null
cd /; rm -rf "$folder"
exit "$status"`;

const portAttempts = 3;

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
  const source = template === undefined ? "" : ` TEMPLATE ${pg.escapeIdentifier(template)}`;
  await runStatement(adminUrl, `CREATE DATABASE ${pg.escapeIdentifier(name)}${source}`);
  const url = new URL(adminUrl);
  url.pathname = `/${name}`;
  return url.href;
}

/** Removes the database that `databaseUrl` names, with the connections it still has; nothing happens if it is gone. */
export async function dropDatabase(adminUrl: string, databaseUrl: string): Promise<void> {
  const name = decodeURIComponent(new URL(databaseUrl).pathname.slice(1));
  await runStatement(adminUrl, `DROP DATABASE IF EXISTS ${pg.escapeIdentifier(name)} WITH (FORCE)`);
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
    env: { LC_ALL: "C", TZ: "UTC" },
    stdio: ["ignore", "ignore", "pipe"],
    ...user,
  });
  const log = collectLog(child);
  const [code] = (await once(child, "close")) as [number | null];
  if (code !== 0) throw new Error(`initdb ended with ${code}: ${log.text}`);
}

async function startServer(
  binaries: ServerBinaries,
  folder: string,
  user: ServerUser | undefined,
  options: PostgresOptions,
): Promise<TestPostgres> {
  const port = await freePort();
  const command = [binaries.postgres, "-D", path.join(folder, "data"), ...serverSettings(port, options)];
  const child = spawn("/bin/sh", ["-c", watchScript, "signet-postgres", folder, ...command], {
    cwd: folder,
    env: { PATH: process.env["PATH"], LC_ALL: "C", TZ: "UTC" },
    stdio: ["pipe", "ignore", "pipe"],
    // A group of its own, so that Ctrl-C in a terminal ends the tests first and the server through the pipe.
    detached: true,
    ...user,
  });
  await serverReady(child);
  letProcessExit(child);
  return { url: `postgres://postgres@127.0.0.1:${port}/postgres`, stop: () => stopServer(child) };
}

function serverSettings(port: number, { isDurable = false }: PostgresOptions): string[] {
  const settings: Record<string, string> = {
    listen_addresses: "127.0.0.1",
    port: String(port),
    unix_socket_directories: "",
    max_connections: "200",
    timezone: "UTC",
    // Statements that fail on purpose are every test suite's daily bread: the log keeps only the server's own life.
    log_min_messages: "log",
    ...(isDurable ? {} : { fsync: "off", synchronous_commit: "off", full_page_writes: "off" }),
  };
  return Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
}

/** Waits for the server's own word that it accepts connections. */
function serverReady(child: ChildProcess): Promise<void> {
  const log = collectLog(child);
  return new Promise((resolve, reject) => {
    child.stderr?.on("data", () => {
      if (log.text.includes("ready to accept connections")) resolve();
    });
    child.once("error", reject);
    child.once("exit", (code) => {
      child.stdin?.destroy();
      reject(new Error(`PostgreSQL ended with ${code}: ${log.text}`));
    });
  });
}

/** Keeps reading what the process says, as a full pipe would stop it; holds the last few thousand characters. */
function collectLog(child: ChildProcess): { text: string } {
  const log = { text: "" };
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    log.text = (log.text + text).slice(-4000);
  });
  return log;
}

/** A test process that has ended its tests may exit with the server still running: the pipe closes and ends it. */
function letProcessExit(child: ChildProcess): void {
  child.unref();
  (child.stdin as Socket).unref();
  (child.stderr as Socket).unref();
}

async function stopServer(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.ref();
  const ended = once(child, "exit");
  child.stdin?.end();
  await ended;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (address === null || typeof address === "string") throw new Error("no free port on 127.0.0.1");
  return address.port;
}
