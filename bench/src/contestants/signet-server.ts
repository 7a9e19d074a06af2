import { spawn } from "node:child_process";
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
  webApp: { clientId: string; clientSecret: string; redirectUris: string[] };
  serviceApp: { clientId: string; clientSecret: string };
};

export type RunningSignet = {
  port: number;
  pid: number;
  demo: Demo;
  /** The environment in which the `signet` command finds it. */
  settings: Record<string, string>;
};

export const entry = fileURLToPath(new URL("../../../scripts/signet.mjs", import.meta.url));
const startMs = 30_000;

/**
 * Starts the service as an operator would, with its default log level and settings (but for `more`), on a free port and
 * with a fresh data folder inside `folder`; its log goes to a file there. Rejects with the log's end when it does not get ready.
 */
export async function startSignet(
  folder: string,
  databaseUrl?: string,
  more: Record<string, string> = {},
): Promise<RunningSignet> {
  const dataDir = join(folder, "signet");
  mkdirSync(dataDir, { mode: 0o700 });
  const port = await freePort();
  const logFile = join(folder, "signet.log");
  const log = openSync(logFile, "a");
  const settings = {
    PORT: String(port),
    HOST: "127.0.0.1",
    SIGNET_DATA_DIR: dataDir,
    NODE_ENV: "production",
    ...(databaseUrl === undefined ? {} : { DATABASE_URL: databaseUrl }),
    ...more,
  };
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
    await pause(50);
  }
  const demo = JSON.parse(readFileSync(join(dataDir, "demo.json"), "utf8")) as Demo;
  return { port, pid: child.pid ?? 0, demo, settings };
}

async function isReady(port: number): Promise<boolean> {
  const answer = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined);
  await answer?.body?.cancel();
  return answer?.status === 200;
}
