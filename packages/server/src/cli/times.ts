/** Lengths of time and moments, as operators type them. */
import type { Clock } from "../core/clock.ts";
import { time } from "./answer.ts";
import { UsageError } from "./command.ts";

const units: Readonly<Record<string, number>> = { "": 1, s: 1, m: 60, h: 3_600, d: 86_400 };

/** @returns seconds. @throws UsageError naming the option */
export function readDuration(text: string, option: string): number {
  const [, count, unit = ""] = /^(\d{1,9})([smhd]?)$/.exec(text.trim()) ?? [];
  if (count === undefined) throw new UsageError(`--${option} must be seconds, or like 15m, 1h, 30d`);
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
      "--expires must be days (90), a date (2027-01-31) or a time with its zone (2027-01-31T12:00:00Z)",
    );
  if (at <= now) throw new UsageError(`--expires must be in the future, and ${time(at)} is not`);
  return at;
}

/** RFC 3339; a time without its zone would mean another one on each machine. */
export function readTime(text: string): number | undefined {
  const [, date] =
    /^(\d{4}-\d{2}-\d{2})(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:\d{2}))?$/i.exec(text) ?? [];
  const at = Date.parse(text.toUpperCase());
  // `Date` takes the 31st of February for the 3rd of March.
  const isReal = date !== undefined && !Number.isNaN(at) && time(Date.parse(date)).startsWith(date);
  return isReal ? at : undefined;
}
