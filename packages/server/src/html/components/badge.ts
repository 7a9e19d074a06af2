/** A status: a dot and a word. The colour only repeats the word. */
import { type Html, html } from "../html.ts";

export type BadgeKind = "good" | "warn" | "bad" | "plain";

export const badge = (kind: BadgeKind, text: string): Html =>
  html`<span class="state ${kind}">${text}</span>`;

/** What is no status: quiet words beside a name, such as `You`. */
export const tag = (text: string): Html => html`<span class="tag">${text}</span>`;
