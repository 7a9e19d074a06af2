/**
 * The server with all that `signet start` has, inside this process, for journeys that are about pages and protocols. A
 * program of its own costs two seconds of processor time before it answers, and answers slowly at first; the journeys that
 * kill, restart or look into it have one (server-process.ts).
 */
import { mkdtemp, readFile, rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import type { DemoFile } from "../../packages/server/src/cli/demo/demo-file.ts";
import { logTo } from "../../packages/server/src/cli/start/log.ts";
import { serviceNotices } from "../../packages/server/src/cli/start/service-notices.ts";
import { runServer } from "../../packages/server/src/cli/start/start.ts";
import { readConfig } from "../../packages/server/src/config/config.ts";
import { freshPostgres } from "../../packages/server/src/testing/databases.ts";
import { freePort } from "../../packages/server/src/testing/free-port.ts";
import { logLinesOf, type RunningServer, type ServerOptions, settingsOf } from "./server-process.ts";

const portAttempts = 5;

/**
 * For journeys with commands beside the server, which are inside this process too: on a PostgreSQL database of its own,
 * because SQLite waits for another connection's write by stopping the process that should finish it.
 */
export async function startServerBesideCommands(
  options: Omit<ServerOptions, "databaseUrl"> = {},
): Promise<RunningServer> {
  const database = await freshPostgres();
  const server = await startServerInProcess({ ...options, databaseUrl: database.url }).catch(
    async (error) => {
      await database.remove();
      throw error;
    },
  );
  const stop = async () => {
    await server.stop();
    await database.remove();
  };
  return { ...server, stop };
}

/** Waits until the server says that it is ready. @throws what ended it when it does not get that far */
export async function startServerInProcess(options: ServerOptions = {}): Promise<RunningServer> {
  const dataDir = options.dataDir ?? (await mkdtemp(path.join(os.tmpdir(), "signet-e2e-")));
  const cleanUp = async () => {
    if (options.dataDir === undefined) await rm(dataDir, { recursive: true, force: true });
  };
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await startOnce(options, options.port ?? (await freePort()), dataDir, cleanUp);
    } catch (error) {
      // Between our look for a free port and the server's start another process may have taken it.
      const isPortTaken = error instanceof Error && "code" in error && error.code === "EADDRINUSE";
      if (isPortTaken && options.port === undefined && attempt < portAttempts) continue;
      await cleanUp();
      throw error;
    }
  }
}

async function startOnce(
  options: ServerOptions,
  port: number,
  dataDir: string,
  cleanUp: () => Promise<void>,
): Promise<RunningServer> {
  const settings = settingsOf(options, port, dataDir);
  const config = readConfig({ ...settings, ...options.settings });
  let output = "";
  const { promise: isReady, resolve: letGo } = Promise.withResolvers<void>();
  const write = (text: string) => {
    output += text;
    if (text.includes('"msg":"ready"')) letGo();
  };
  const io = {
    print: (line: string) => write(`${line}\n`),
    printError: (line: string) => write(`${line}\n`),
    readSecret: () => Promise.reject(new Error("nobody is there to type")),
    confirm: async () => undefined,
  };
  const { promise: stopRequested, resolve: stop } = Promise.withResolvers<string>();
  const { isDemo = true } = options;
  const log = logTo("info", { write });
  const notices = serviceNotices(undefined, log);
  const ended = runServer(config, { isDemo, io, log, notices, stopRequested });
  await Promise.race([ended, isReady]);
  return {
    port,
    baseUrl: `http://localhost:${port}`,
    dataDir,
    settings,
    demo: async () => JSON.parse(await readFile(path.join(dataDir, "demo.json"), "utf8")) as DemoFile,
    output: () => output,
    logLines: () => logLinesOf(output),
    stop: async () => {
      stop("end of the test");
      await ended;
      await cleanUp();
    },
  };
}
