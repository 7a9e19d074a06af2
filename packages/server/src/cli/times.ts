/** Durations and dates in option values. */
import type { Clock } from "../core/clock.ts";
import { UsageError } from "./command.ts";
import { formatTime } from "./output.ts";

const units: Readonly<Record<string, number>> = { "": 1, s: 1, m: 60, h: 3_600, d: 86_400 };

/** @returns seconds. @throws UsageError naming the option */
export function readDuration(text: string, option: string): number {
  const [, count, unit = ""] = /^(\d{1,9})([smhd]?)$/.exec(text.trim()) ?? [];
  if (count === undefined)
    throw new UsageError(`--${option} must be a number of seconds, or a duration such as 15m, 1h or 30d`);
  return Number(count) * (units[unit] ?? 1);
}

const DAY_MS = 86_400_000;

/** For an option `--expires`. @returns milliseconds; null for never */
export function readExpiry(text: string | undefined, clock: Clock): number | null {
  if (text === undefined) return null;
  const now = clock();
  const at = /^\d{1,5}$/.test(text) ? now + Number(text) * DAY_MS : readTime(text);
  if (at === undefined)
    throw new UsageError(
      "--expires must be a number of days (90), a date (2027-01-31) or a time with a time zone (2027-01-31T12:00:00Z)",
    );
  if (at <= now) throw new UsageError(`--expires must be in the future: ${formatTime(at)} has passed`);
  return at;
}

/** RFC 3339; a time without a time zone would depend on the machine. */
export function readTime(text: string): number | undefined {
  const [, date] =
    /^(\d{4}-\d{2}-\d{2})(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:\d{2}))?$/i.exec(text) ?? [];
  const at = Date.parse(text.toUpperCase());
  // `Date` reads 31 February as 3 March.
  const isReal = date !== undefined && !Number.isNaN(at) && formatTime(Date.parse(date)).startsWith(date);
  return isReal ? at : undefined;
}
