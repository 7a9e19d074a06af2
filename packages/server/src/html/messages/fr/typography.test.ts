import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";

// A space before : ; ? ! » or after « that is neither U+00A0 nor U+202F (a quotation mark after it is TypeScript's ?:),
// and a hyphen in "e-mail" that is not U+2011.
const breaksBadly = /\S [:;?!»](?! ["`])|« |e-mail/i;

test("no line break parts French punctuation from its word, or the two halves of a short one", () => {
  const all = readdirSync(import.meta.dirname, { recursive: true, encoding: "utf8" });
  const files = all.filter((name) => /^[a-z/-]+\.ts$/.test(name));
  assert.ok(files.length > 20);
  for (const file of files) {
    const lines = readFileSync(`${import.meta.dirname}/${file}`, "utf8")
      .split("\n")
      .filter((line) => !/^\s*(\/?\*|\/\/)/.test(line));
    for (const line of lines) assert.doesNotMatch(line, breaksBadly, file);
  }
});
