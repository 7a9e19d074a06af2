import { type Html, html } from "./html.ts";

/** A JSON value indented for reading, members' names and values told apart by colour, everything escaped. */
export function json(value: unknown): Html {
  const text = JSON.stringify(value, null, 2) ?? "null";
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
