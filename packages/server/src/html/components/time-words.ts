/** Hours and days under a chart, in UTC. A formatter is created once for many texts. */

import { regionalLocale } from "../messages/format.ts";

type Words = (milliseconds: number) => string;

const words = (locale: string, options: Intl.DateTimeFormatOptions): Words => {
  const format = new Intl.DateTimeFormat(regionalLocale(locale), { ...options, timeZone: "UTC" });
  return (milliseconds) => format.format(milliseconds);
};

/** `14:00` */
export const formatHour = (locale: string): Words =>
  words(locale, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });

/** `Mon` */
export const formatWeekday = (locale: string): Words => words(locale, { weekday: "short" });

/** `4 May` */
export const formatDay = (locale: string): Words => words(locale, { day: "numeric", month: "short" });

/** `Mon, 4 May, 14:00` */
export const formatDayAndHour = (locale: string): Words =>
  words(locale, {
    weekday: "short",
    day: "numeric",
    month: "short",
    hour: "2-digit",
    minute: "2-digit",
    hourCycle: "h23",
  });

/** `Mon, 4 May` */
export const formatWeekdayAndDay = (locale: string): Words =>
  words(locale, { weekday: "short", day: "numeric", month: "short" });
