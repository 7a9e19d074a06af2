import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { freePort } from "../../../packages/server/src/testing/free-port.ts";
import { killAtEnd } from "../child.ts";

/** What `signet start --demo` writes to demo.json, as far as the bench needs it. */
export type Demo = {
  issuer: string;
  user: { email: string; password: string };
  org: string;
  admin: { email: string; password: string };
  administratorAccount: { publicKey: string; secretKey: string };
  otherOrg: { org: string; issuer: string; serviceApp: { clientId: string; clientSecret: string } };
  webApp: { clientId: string; clientSecret: string; redirectUris: string[] };
  serviceApp: { clientId: string; clientSecret: string };
};

export type RunningSignet = {
  port: number;
  pid: number;
  demo: Demo;
  /** The environment in which the `signet` command finds it. */
  settings: Record<string, string>;
  /** Ends it; whatever it left in its folder stays. */
  stop: () => Promise<void>;
};

export const entry = fileURLToPath(new URL("../../../scripts/signet.mjs", import.meta.url));
const startMs = 60_000;

export interface SignetOptions {
  /** As in DATABASE_URL (default: SQLite in the folder). */
  readonly databaseUrl?: string | undefined;
  readonly environment?: Readonly<Record<string, string>>;
}

/**
 * Starts the service as an operator would, with its default log level and settings (but for `environment`), on a free port and
 * with a fresh data folder inside `folder`; its log goes to a file there. Rejects with the log's end when it does not get ready.
 */
export async function startSignet(
  folder: string,
  { databaseUrl, environment = {} }: SignetOptions = {},
): Promise<RunningSignet> {
  const dataDir = join(folder, "signet");
  mkdirSync(dataDir, { mode: 0o700, recursive: true });
  const port = await freePort();
  const settings = {
    PORT: String(port),
    HOST: "127.0.0.1",
    SIGNET_DATA_DIR: dataDir,
    SIGNET_DRAIN_SECONDS: "0",
    NODE_ENV: "production",
    ...(databaseUrl === undefined ? {} : { DATABASE_URL: databaseUrl }),
    ...environment,
  };
  const child = await startProcess(settings, { port, logFile: join(folder, "signet.log") });
  const demo = JSON.parse(readFileSync(join(dataDir, "demo.json"), "utf8")) as Demo;
  return { port, pid: child.pid ?? 0, demo, settings, stop: () => stopProcess(child) };
}

/** Starts it with these settings, and waits until it is ready. */
export async function startProcess(
  settings: Record<string, string>,
  { port, logFile }: { port: number; logFile: string },
): Promise<ChildProcess> {
  const log = openSync(logFile, "a");
  const child = killAtEnd(
    spawn(process.execPath, [entry, "start", "--demo"], {
      env: { PATH: process.env["PATH"], ...settings },
      stdio: ["ignore", log, log],
    }),
  );
  const deadline = Date.now() + startMs;
  while (!(await isReady(port))) {
    if (child.exitCode !== null || Date.now() > deadline) {
      throw new Error(`signet did not start:\n${readFileSync(logFile, "utf8").slice(-2000)}`);
    }
    await pause(10);
  }
  return child;
}

/** As an operator ends it, without the pause in which load balancers leave. */
export async function stopProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  child.kill("SIGTERM");
  await ended;
}

async function isReady(port: number): Promise<boolean> {
  const answer = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined);
  await answer?.body?.cancel();
  return answer?.status === 200;
}
