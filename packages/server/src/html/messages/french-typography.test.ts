import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { localesFolder } from "./language-files.ts";

// A space before : ; ? ! » or after « that is neither U+00A0 nor U+202F, and a hyphen in "e-mail" that is not U+2011.
const breaksBadly = /\S [:;?!»]|« |e-mail/i;

test("no line break parts French punctuation from its word, or the two halves of a short one", () => {
  const folder = path.join(localesFolder, "fr");
  const files = readdirSync(folder);
  assert.ok(files.length > 20);
  for (const file of files)
    for (const line of readFileSync(path.join(folder, file), "utf8").split("\n"))
      assert.doesNotMatch(line, breaksBadly, file);
});
