import { isNestedWithin } from "@signet/protocol/json-depth";
import { type Html, html } from "./html.ts";

/** Indented for reading; in one line where it is nested so deeply that nobody reads it, and most of it would be spaces. */
export const readableJson = (value: unknown): string =>
  JSON.stringify(value, null, isNestedWithin(value) ? 2 : 0) ?? "null";

/** A JSON value as `readableJson`, members' names and values told apart by colour, everything escaped. */
export function json(value: unknown): Html {
  const text = readableJson(value);
  // Strings first, so that what looks like a number or a word inside one is left alone.
  const tokens = /("(?:[^"\\]|\\.)*")(\s*:)?|-?\d[\d.eE+-]*|\b(?:true|false|null)\b/g;
  const pieces: Html[] = [];
  let end = 0;
  for (const match of text.matchAll(tokens)) {
    const kind = match[1] === undefined ? "value" : match[2] === undefined ? "text" : "name";
    const word = match[1] ?? match[0];
    pieces.push(html`${text.slice(end, match.index)}<span class="json-${kind}">${word}</span>${match[2]}`);
    end = match.index + match[0].length;
  }
  return html`${pieces}${text.slice(end)}`;
}
