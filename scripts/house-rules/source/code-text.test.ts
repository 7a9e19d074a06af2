import assert from "node:assert/strict";
import { test } from "node:test";
import { codeText } from "./code-text.ts";

/** The words that are left when comments and the content of strings are gone. */
function words(text: string): string[] {
  return codeText(text).match(/\w+/g) ?? [];
}

test("keeps every character's place and every line", () => {
  const text = 'a /* b\nc */ "d" // e\n`f${g}h`;\n';
  const code = codeText(text);
  assert.equal(code.length, text.length);
  assert.equal(code.split("\n").length, text.split("\n").length);
  assert.equal(code.indexOf("g"), text.indexOf("g"));
});

test("blanks comments, strings and templates but not the code in a template's placeholder", () => {
  assert.deepEqual(words("one // two\n/* three\n three */ four"), ["one", "four"]);
  assert.deepEqual(words(`a = "it's \\" b" + 'c "' + d`), ["a", "d"]);
  assert.deepEqual(words("`x ${one({ two: `y ${three} z` })} w` + four"), ["one", "two", "three", "four"]);
});

test("takes no slash in a regular expression for a comment, and no division for a regular expression", () => {
  assert.deepEqual(words("a = /[/*]b'/g; c // d"), ["a", "g", "c"]);
  assert.deepEqual(words("x = (a) / b / c; y"), ["x", "a", "b", "c", "y"]);
  assert.deepEqual(words("return /it's/.test(a)"), ["return", "test", "a"]);
});

test("comes to an end on text that is not finished", () => {
  for (const text of ['"a', "`a", "`a${", "/* a", "/a", "// a", "`${`", '"\\'])
    assert.equal(codeText(text).length, text.length);
});
