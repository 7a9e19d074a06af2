/** How a language writes moments, durations and numbers: for pages, and for the arguments of texts. */
import type { Formatters, Formats as MessageStyles } from "intl-messageformat";

export interface Format {
  number(value: number): string;
  /** Days and times are in UTC, because the server does not know the reader's zone. Milliseconds since epoch. */
  day(at: number): string;
  minute(at: number): string;
  second(at: number): string;
  /** A waiting time, rounded up to what a person waits by: `45 seconds`, `12 minutes`, `3 hours`. */
  duration(seconds: number): string;
  /** A setting: whole days and whole hours as such, else as a waiting time. */
  lifetime(seconds: number): string;
  /** Of a share: 0.25 is `25%`; below a tenth with a decimal. */
  share(share: number): string;
  list(names: readonly string[]): string;
}

/** English texts follow British spelling, and so do their dates: `22 Nov 2026, 22:03`. */
export const regionalLocale = (locale: string): string => (locale === "en" ? "en-GB" : locale);

/** The styles of `{at, date, minute}`, `{seconds, number, duration}` and `{share, number, share}`; texts use no others. */
export const messageStyles: MessageStyles = {
  date: {
    day: { dateStyle: "medium" },
    minute: { dateStyle: "medium", timeStyle: "short" },
    second: { dateStyle: "medium", timeStyle: "medium" },
  },
  number: { duration: { unit: "duration" }, lifetime: { unit: "lifetime" }, share: { style: "percent" } },
  time: {},
};

export function formatOf(language: string): Format {
  const locale = regionalLocale(language);
  const { format: number } = new Intl.NumberFormat(locale);
  const date = (options: Intl.DateTimeFormatOptions | undefined, zone: string) => {
    let made: Intl.DateTimeFormat | undefined;
    return (at: number) => {
      made ??= new Intl.DateTimeFormat(locale, { ...options, timeZone: "UTC" });
      return `${made.format(at)}${zone}`;
    };
  };
  const { day, minute, second } = messageStyles.date;
  return {
    number,
    day: date(day, ""),
    minute: date(minute, " UTC"),
    second: date(second, " UTC"),
    duration: (seconds) => duration(locale, seconds),
    lifetime: (seconds) => lifetime(locale, seconds),
    share: (share) => percent(locale, share),
    list: (names) => new Intl.ListFormat(locale, { type: "conjunction" }).format(names),
  };
}

/** What the library of ICU messages asks for, so that the arguments of texts are written as on pages. */
export function messageFormatters(language: string, format: Format): Formatters {
  const plural = new Intl.PluralRules(regionalLocale(language));
  const byStyle = new Map<object | undefined, (value: number) => string>([
    ...(["day", "minute", "second"] as const).map(
      (name) => [messageStyles.date[name], format[name]] as const,
    ),
    ...(["duration", "lifetime", "share"] as const).map(
      (name) => [messageStyles.number[name], format[name]] as const,
    ),
  ]);
  const writer = (style: object | undefined) => ({ format: byStyle.get(style) ?? format.number });
  return {
    getNumberFormat: (_locale, style) => writer(style) as Intl.NumberFormat,
    getDateTimeFormat: (_locale, style) => writer(style) as Intl.DateTimeFormat,
    getPluralRules: () => plural,
  };
}

const percent = (locale: string, share: number): string =>
  new Intl.NumberFormat(locale, { style: "percent", maximumFractionDigits: share < 0.1 ? 1 : 0 }).format(
    share,
  );

function duration(locale: string, seconds: number): string {
  const whole = Math.max(1, Math.ceil(seconds));
  if (whole < 90) return unit(locale, whole, "second");
  return whole < 5_400
    ? unit(locale, Math.ceil(whole / 60), "minute")
    : unit(locale, Math.ceil(whole / 3_600), "hour");
}

function lifetime(locale: string, seconds: number): string {
  if (seconds % 86_400 === 0) return unit(locale, seconds / 86_400, "day");
  return seconds % 3_600 === 0 ? unit(locale, seconds / 3_600, "hour") : duration(locale, seconds);
}

const unit = (locale: string, amount: number, name: string): string =>
  new Intl.NumberFormat(locale, { style: "unit", unit: name, unitDisplay: "long" }).format(amount);
