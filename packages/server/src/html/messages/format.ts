/** A waiting time in words, rounded up to what a person waits by: `45 seconds`, `12 minutes`, `3 hours`. */
export function formatDuration(locale: string, seconds: number): string {
  const whole = Math.max(1, Math.ceil(seconds));
  const [amount, unit] =
    whole < 90
      ? [whole, "second"]
      : whole < 5_400
        ? [Math.ceil(whole / 60), "minute"]
        : [Math.ceil(whole / 3_600), "hour"];
  return new Intl.NumberFormat(locale, { style: "unit", unit, unitDisplay: "long" }).format(amount);
}

/** A lifetime in words: whole days and whole hours as such, else as a waiting time. */
export function formatLifetime(locale: string, seconds: number): string {
  const [amount, unit] = seconds % 86_400 === 0 ? [seconds / 86_400, "day"] : [seconds / 3_600, "hour"];
  return Number.isInteger(amount)
    ? new Intl.NumberFormat(locale, { style: "unit", unit, unitDisplay: "long" }).format(amount)
    : formatDuration(locale, seconds);
}

/** A moment (milliseconds since epoch) in words, in UTC because the server does not know the reader's zone. */
export function formatMoment(locale: string, milliseconds: number): string {
  return new Intl.DateTimeFormat(locale, {
    dateStyle: "medium",
    timeStyle: "medium",
    timeZone: "UTC",
  }).format(milliseconds);
}

/** A day (milliseconds since epoch) in words, in UTC. */
export function formatDay(locale: string, milliseconds: number): string {
  return new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeZone: "UTC" }).format(milliseconds);
}

/** A moment to the minute (milliseconds since epoch) in words, in UTC. */
export function formatMinute(locale: string, milliseconds: number): string {
  return new Intl.DateTimeFormat(locale, {
    dateStyle: "medium",
    timeStyle: "short",
    timeZone: "UTC",
  }).format(milliseconds);
}
