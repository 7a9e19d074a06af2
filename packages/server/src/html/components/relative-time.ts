/** A point in time, which scripts/relative-time.js says in the reader's zone, and how long ago with the rest on hover. */
import { type Html, html } from "../html.ts";

/** @param words `messages.format.day` or `.minute`: what stands there without scripts, in UTC */
export const relativeTime = (milliseconds: number, words: (milliseconds: number) => string): Html =>
  html`<time datetime="${new Date(milliseconds).toISOString()}" data-relative>${words(milliseconds)}</time>`;

/** The same, but always the exact time: where lines are compared by it. */
export const exactTime = (milliseconds: number, words: (milliseconds: number) => string): Html =>
  html`<time datetime="${new Date(milliseconds).toISOString()}" data-exact>${words(milliseconds)}</time>`;
