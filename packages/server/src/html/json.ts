/** JSON for reading, with syntax colours. */
import { isNestedWithin } from "@signet/protocol/json-depth";
import { type Html, html } from "./html.ts";

/** Indented; on one line when it is nested too deeply to read. */
export const readableJson = (value: unknown): string =>
  JSON.stringify(value, null, isNestedWithin(value) ? 2 : 0) ?? "null";

/** As `readableJson`, with syntax colours, escaped. */
export function json(value: unknown): Html {
  const text = readableJson(value);
  // Strings first, so that numbers and words inside them are left alone.
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
