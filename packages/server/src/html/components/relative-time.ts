/** A point in time, which scripts/relative-time.js says in the reader's zone, and how long ago with the rest on hover. */
import { type Content, type Html, html } from "../html.ts";

/** @param words `messages.format.day` or `.minute`: what stands there without scripts, in UTC */
export const relativeTime = (milliseconds: number, words: (milliseconds: number) => string): Html =>
  html`<time datetime="${new Date(milliseconds).toISOString()}" data-relative>${words(milliseconds)}</time>`;

/** The same, but always the exact time: where lines are compared by it. */
export const exactTime = (milliseconds: number, words: (milliseconds: number) => string): Html =>
  html`<time datetime="${new Date(milliseconds).toISOString()}" data-exact>${words(milliseconds)}</time>`;

/** A text that says a time, which scripts say in the reader's zone instead. @param words as the text says it */
export function timeWithin(
  text: string,
  milliseconds: number,
  words: (milliseconds: number) => string,
): Content {
  const shown = words(milliseconds);
  const at = text.indexOf(shown);
  if (at === -1) return text;
  return html`${text.slice(0, at)}${exactTime(milliseconds, words)}${text.slice(at + shown.length)}`;
}
