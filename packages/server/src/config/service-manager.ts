/** What systemd tells a service of `Type=notify` about itself (sd_notify(3), sd_watchdog_enabled(3)). */
import { type Env, text } from "./config-values.ts";

export interface ServiceManager {
  /** What `systemd-notify` needs of the environment; the rest may hold secrets. */
  readonly environment: Readonly<Record<string, string>>;
  /** How long it may hear nothing before it restarts the service; undefined: it does not watch. */
  readonly watchdogMs: number | undefined;
}

/** @param pid of this process @returns undefined where none waits to be told */
export function serviceManager(env: Env, pid: number): ServiceManager | undefined {
  const socket = text(env, "NOTIFY_SOCKET");
  if (socket === undefined) return undefined;
  const path = text(env, "PATH") ?? "/usr/local/bin:/usr/bin:/bin";
  return { environment: { PATH: path, NOTIFY_SOCKET: socket }, watchdogMs: watchdogMs(env, pid) };
}

function watchdogMs(env: Env, pid: number): number | undefined {
  const microseconds = Number(text(env, "WATCHDOG_USEC"));
  // Inherited from a service that started this one, it means that other process.
  const watched = text(env, "WATCHDOG_PID");
  if (watched !== undefined && watched !== String(pid)) return undefined;
  return Number.isInteger(microseconds) && microseconds > 0 ? microseconds / 1_000 : undefined;
}
