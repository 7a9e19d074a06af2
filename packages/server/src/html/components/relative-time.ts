/** A point in time, which scripts/relative-time.js says in the reader's zone, and how long ago with the rest on hover. */
import { type Content, type Html, html } from "../html.ts";

/** @param words `messages.format.day` or `.minute`: what stands there without scripts, in UTC */
export const relativeTime = (milliseconds: number, words: (milliseconds: number) => string): Html =>
  html`<time datetime="${new Date(milliseconds).toISOString()}" data-relative>${words(milliseconds)}</time>`;

/** The same, but always the exact time: where lines are compared by it. */
export const exactTime = (milliseconds: number, words: (milliseconds: number) => string): Html =>
  html`<time datetime="${new Date(milliseconds).toISOString()}" data-exact>${words(milliseconds)}</time>`;

/** A day: only the date, with the exact time on hover. */
const dayTime = (milliseconds: number, words: (milliseconds: number) => string): Html =>
  html`<time datetime="${new Date(milliseconds).toISOString()}" data-day>${words(milliseconds)}</time>`;

/** A text that says a time, which scripts say in the reader's zone instead. @param words as the text says it */
export function timeWithin(
  text: string,
  milliseconds: number,
  words: (milliseconds: number) => string,
): Content {
  return within(text, milliseconds, words, exactTime);
}

/** The same for a text that says a day. @param words `messages.format.day` */
export function dayWithin(
  text: string,
  milliseconds: number,
  words: (milliseconds: number) => string,
): Content {
  return within(text, milliseconds, words, dayTime);
}

function within(
  text: string,
  milliseconds: number,
  words: (milliseconds: number) => string,
  element: typeof exactTime,
): Content {
  const shown = words(milliseconds);
  const at = text.indexOf(shown);
  if (at === -1) return text;
  return html`${text.slice(0, at)}${element(milliseconds, words)}${text.slice(at + shown.length)}`;
}
