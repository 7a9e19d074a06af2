/** `signet doctor`: check results, and the checks of configuration and clock. */
import type { Config } from "../../config/config.ts";

export interface Check {
  /** `note`: not a problem, but worth knowing. */
  readonly level: "ok" | "note" | "warn" | "fail";
  readonly subject: string;
  readonly message: string;
  readonly remedy?: string;
}

type Found = (subject: string, message: string, remedy?: string) => Check;

const found =
  (level: Check["level"]): Found =>
  (subject, message, remedy) => ({ level, subject, message, ...(remedy === undefined ? {} : { remedy }) });

export const ok = found("ok");
export const note = found("note");
export const warn = found("warn");
export const fail = found("fail");

/** For a configuration that config.ts has already validated. */
export function configurationChecks(config: Config): Check[] {
  return [ok("configuration", "all settings are valid"), ...addressChecks(config)];
}

function addressChecks({ baseUrl, trustedProxies }: Config): Check[] {
  if (!baseUrl.startsWith("https:")) {
    return [
      note(
        "base URL",
        `${baseUrl} uses HTTP and is reachable from this machine only`,
        "Before going live: put a TLS proxy in front and set SIGNET_BASE_URL=https://…",
      ),
    ];
  }
  // Signet serves plain HTTP: an https base URL implies a proxy, whose address every client would appear to have.
  if (trustedProxies.length > 0) return [ok("base URL", baseUrl)];
  return [
    warn(
      "base URL",
      `${baseUrl} is behind a proxy, but TRUSTED_PROXIES is empty: all clients share the proxy's IP address and rate limits`,
      "Set TRUSTED_PROXIES to the proxy's IP address or network.",
    ),
  ];
}

/** With a wrong clock, the server signs tokens that nobody accepts. */
export function clockCheck(now: number): Check {
  const year = new Date(now).getUTCFullYear();
  const shown = `this machine's time is ${new Date(now).toISOString()}`;
  return year >= 2025 && year < 2100
    ? ok("clock", shown)
    : fail("clock", shown, "Set the clock and keep it synchronised with NTP.");
}

const MAX_DRIFT_MS = 60_000;

/** Nodes compare times that other nodes stored. @param times milliseconds: ours before, the database's, ours after */
export function databaseClockCheck({
  asked,
  clock,
  answered,
}: {
  asked: number;
  clock: number;
  answered: number;
}): Check {
  // Any database time between query and response counts as no drift.
  const drift = Math.max(asked - clock, clock - answered, 0);
  const shown = `${(drift / 1000).toFixed(1)} s off this machine's clock`;
  if (drift <= MAX_DRIFT_MS) return ok("database clock", shown);
  return fail("database clock", shown, "Set both clocks and keep them synchronised with NTP.");
}
