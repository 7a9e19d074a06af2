/**
 * Tells systemd that the service is ready, that it stops, and while its event loop turns, that it lives (sd_notify(3)). Node
 * speaks no datagrams over a path's socket, so `systemd-notify` does.
 */
import { execFile } from "node:child_process";
import type { ServiceManager } from "../../config/service-manager.ts";
import { describeError } from "./describe-error.ts";
import type { Log } from "./log.ts";

export interface ServiceNotices {
  /** It serves; from now on it says that it lives, as long as it does its work. */
  ready(isStuck: () => boolean): void;
  /** It drains. The watchdog is fed until the process ends. */
  stopping(): void;
  /** Nothing is said any more. */
  end(): void;
}

/** Longer than systemd takes; a program that hangs must not pile up. */
const MOST_MS = 5_000;

export function serviceNotices(manager: ServiceManager | undefined, log: Pick<Log, "error">): ServiceNotices {
  if (!manager) return { ready: () => {}, stopping: () => {}, end: () => {} };
  const { environment, watchdogMs } = manager;
  let hasFailed = false;
  let feeding: NodeJS.Timeout | undefined;
  const tell = (...states: string[]) =>
    execFile("systemd-notify", states, { env: environment, timeout: MOST_MS }, (error) => {
      // Once: it would fail every few seconds.
      if (error && !hasFailed) log.error(describeError(error), "telling systemd failed");
      hasFailed ||= error !== null;
    }).unref();
  return {
    ready: (isStuck) => {
      tell("READY=1", "STATUS=Serving");
      if (watchdogMs === undefined) return;
      // Half of the time, as sd_watchdog_enabled(3) recommends. A loop that stands still feeds nothing.
      feeding = setInterval(() => void (isStuck() || tell("WATCHDOG=1")), watchdogMs / 2).unref();
    },
    stopping: () => void tell("STOPPING=1", "STATUS=Finishing requests"),
    end: () => clearInterval(feeding),
  };
}
