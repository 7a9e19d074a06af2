/** The real program, started as an operator starts it, on a free loopback port with a data folder of its own. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { DemoFile } from "../../packages/server/src/cli/demo/demo-file.ts";
import { freePort } from "../../packages/server/src/testing/free-port.ts";
import { nodeEnvironment } from "../../packages/server/src/testing/node-environment.ts";
import { guardProcess } from "./process-guard.ts";

export type ServerOptions = {
  /** As in DATABASE_URL. Without it the server does what it does by default: SQLite in the data folder. */
  databaseUrl?: string | undefined;
  /** The caller's, who removes it. Without it the server gets a new one, which goes when the server does. */
  dataDir?: string;
  /** Of an earlier start, to come back at the same address. */
  port?: number;
  /** Default true: with the demo's organisations and applications. */
  isDemo?: boolean;
  /** More settings, e.g. SIGNET_MASTER_KEY. */
  settings?: Record<string, string>;
  /** Another version's `scripts/signet.mjs`. */
  program?: string;
};

export type Settings = Record<string, string>;

export type LogLine = Record<string, unknown>;

export type RunningServer = {
  port: number;
  baseUrl: string;
  dataDir: string;
  /** For the operator's commands beside it. */
  settings: Settings;
  demo(): Promise<DemoFile>;
  /** The output on stdout and stderr so far. */
  output(): string;
  /** What was logged so far; the last half second may be missing. */
  logLines(): LogLine[];
  /** Fails unless the server ends well, within a minute. Does nothing after `stop` or `kill`. */
  stop(): Promise<void>;
  /** SIGKILL; only of a process of its own. */
  kill?(): Promise<void>;
};

/** `stop` is SIGTERM. */
export type ServerProcess = RunningServer & {
  pid: number;
  /** Sends SIGKILL. */
  kill(): Promise<void>;
};

export const todaysProgram = fileURLToPath(new URL("../../scripts/signet.mjs", import.meta.url));
const startMs = 60_000;
const stopMs = 60_000;
const portAttempts = 5;

/**
 * Waits until /readyz says that the server is ready.
 * @throws Error with the server's own words when it is not within a minute
 */
export async function startServer(options: ServerOptions = {}): Promise<ServerProcess> {
  const dataDir = options.dataDir ?? (await mkdtemp(path.join(os.tmpdir(), "signet-e2e-")));
  const cleanUp = async () => {
    if (options.dataDir === undefined) await rm(dataDir, { recursive: true, force: true });
  };
  try {
    for (let attempt = 1; ; attempt += 1) {
      const started = await startOnce(options, options.port ?? (await freePort()), dataDir);
      if (typeof started !== "string")
        return serverProcess(started, settingsOf(options, started.port, dataDir), cleanUp);
      // Between our look for a free port and the server's start another process may have taken it.
      const mayRetry = started.includes("EADDRINUSE") && options.port === undefined && attempt < portAttempts;
      if (!mayRetry) throw new Error(`signet did not start:\n${started}`);
    }
  } catch (error) {
    await cleanUp();
    throw error;
  }
}

type Running = { child: ChildProcess; port: number; output: { text: string } };

/** @returns the running server, or what it said when it did not get ready */
async function startOnce(options: ServerOptions, port: number, dataDir: string): Promise<Running | string> {
  const { isDemo = true, settings = {}, program = todaysProgram } = options;
  const environment = {
    ...nodeEnvironment(),
    ...settingsOf(options, port, dataDir),
    ...settings,
  };
  const child = spawn(process.execPath, [program, "start", ...(isDemo ? ["--demo"] : [])], {
    cwd: dataDir,
    env: environment,
    stdio: ["ignore", "pipe", "pipe"],
  });
  guardProcess(child);
  const output = collectOutput(child);
  const deadline = Date.now() + startMs;
  while (!(await isReady(port))) {
    if (child.exitCode !== null || child.signalCode !== null) return output.text;
    if (Date.now() > deadline) {
      await end(child, "SIGKILL");
      return `not ready within ${startMs} ms:\n${output.text}`;
    }
    await delay(15);
  }
  return { child, port, output };
}

/** What the server and the commands beside it are told. */
export const settingsOf = (
  { databaseUrl }: ServerOptions,
  port: number,
  dataDir: string,
): Settings & Record<"SIGNET_DATA_DIR", string> => ({
  PORT: String(port),
  SIGNET_DATA_DIR: dataDir,
  // No load balancer watches a test's server.
  SIGNET_DRAIN_SECONDS: "0",
  ...(databaseUrl === undefined ? {} : { DATABASE_URL: databaseUrl }),
});

function serverProcess(
  { child, port, output }: Running,
  settings: ReturnType<typeof settingsOf>,
  cleanUp: () => Promise<void>,
): ServerProcess {
  let isOver = false;
  const dataDir = settings.SIGNET_DATA_DIR;
  return {
    settings,
    pid: child.pid ?? 0,
    port,
    baseUrl: `http://localhost:${port}`,
    dataDir,
    demo: async () => JSON.parse(await readFile(path.join(dataDir, "demo.json"), "utf8")) as DemoFile,
    output: () => output.text,
    logLines: () => logLinesOf(output.text),
    stop: async () => {
      if (isOver) return;
      isOver = true;
      const timer = setTimeout(() => child.kill("SIGKILL"), stopMs);
      await end(child, "SIGTERM");
      clearTimeout(timer);
      await cleanUp();
      if (child.exitCode !== 0)
        throw new Error(`signet ended with ${child.exitCode ?? child.signalCode}:\n${output.text}`);
    },
    kill: async () => {
      isOver = true;
      await end(child, "SIGKILL");
      await cleanUp();
    },
  };
}

export const logLinesOf = (output: string): LogLine[] =>
  output.split("\n").flatMap((line) => (line.startsWith("{") ? [JSON.parse(line) as LogLine] : []));

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  child.kill(signal);
  await ended;
}

function collectOutput(child: ChildProcess): { text: string } {
  const output = { text: "" };
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding("utf8").on("data", (text: string) => {
      output.text += text;
    });
  }
  return output;
}

async function isReady(port: number): Promise<boolean> {
  const answer = await fetch(`http://localhost:${port}/readyz`).catch(() => undefined);
  await answer?.body?.cancel();
  return answer?.status === 200;
}
