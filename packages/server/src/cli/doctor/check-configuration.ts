/** What `signet doctor` finds, and its checks of what needs no file and no database. */
import type { Config } from "../../config/config.ts";

export interface Check {
  /** `note`: nothing is wrong, and it is good to know. */
  readonly level: "ok" | "note" | "warn" | "fail";
  readonly subject: string;
  readonly message: string;
  /** What to do. */
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

/** Of a configuration that config.ts has found valid. */
export function configurationChecks(config: Config): Check[] {
  return [ok("configuration", "every setting is valid"), ...addressChecks(config)];
}

function addressChecks({ baseUrl, trustedProxies }: Config): Check[] {
  if (!baseUrl.startsWith("https:")) {
    return [
      note(
        "base URL",
        `${baseUrl} is http and for this machine alone`,
        "Before others use it: put a proxy with TLS in front and set SIGNET_BASE_URL=https://…",
      ),
    ];
  }
  // Signet speaks plain HTTP: with an https address there is a proxy, and every client would seem to be that proxy.
  if (trustedProxies.length > 0) return [ok("base URL", baseUrl)];
  return [
    warn(
      "base URL",
      `${baseUrl} is served through a proxy, and TRUSTED_PROXIES is empty: all clients share the proxy's address and its rate limits`,
      "Set TRUSTED_PROXIES to the proxy's address or network.",
    ),
  ];
}

/** Tokens carry times: a machine that woke up in 1970, or was set wrong, signs tokens that nobody accepts. */
export function clockCheck(now: number): Check {
  const year = new Date(now).getUTCFullYear();
  const shown = `this machine says ${new Date(now).toISOString()}`;
  return year >= 2025 && year < 2100
    ? ok("clock", shown)
    : fail("clock", shown, "Set the clock; let NTP keep it.");
}

const MOST_DRIFT_MS = 60_000;

/** Several nodes read the times that each other wrote. @param times milliseconds: ours before, the database's, ours after */
export function databaseClockCheck({
  asked,
  clock,
  answered,
}: {
  asked: number;
  clock: number;
  answered: number;
}): Check {
  // Whatever lies between the question and the answer is no difference.
  const drift = Math.max(asked - clock, clock - answered, 0);
  const shown = `${(drift / 1000).toFixed(1)} s from this machine's`;
  if (drift <= MOST_DRIFT_MS) return ok("database clock", shown);
  return fail("database clock", shown, "Set both clocks; let NTP keep them.");
}
