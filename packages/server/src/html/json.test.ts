import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { render } from "./html.ts";
import { json } from "./json.ts";

const ENTITIES: Record<string, string> = {
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&#39;": "'",
  "&amp;": "&",
};

test("colours names, strings and other values differently", () => {
  const name = (text: string): string => `<span class="json-name">&quot;${text}&quot;</span>`;
  assert.equal(
    render(json({ a: "1 true", b: -1.5e3, c: null })),
    `{\n  ${name("a")}: <span class="json-text">&quot;1 true&quot;</span>,\n` +
      `  ${name("b")}: <span class="json-value">-1500</span>,\n` +
      `  ${name("c")}: <span class="json-value">null</span>\n}`,
  );
});

test("keeps deeply nested JSON on one line", () => {
  const lists = (depth: number): unknown => JSON.parse("[".repeat(depth) + "]".repeat(depth));
  assert.equal(render(json(lists(2))), "[\n  []\n]");
  assert.equal(render(json(lists(3_000))), "[".repeat(3_000) + "]".repeat(3_000));
});

test("the text of the markup is the JSON, and its only tags are colours", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const plain = render(json(value)).replace(/<span class="json-(?:name|text|value)">|<\/span>/g, "");
      assert.doesNotMatch(plain, /[<>"]/);
      assert.equal(
        plain.replace(/&(?:lt|gt|quot|#39|amp);/g, (entity) => ENTITIES[entity] ?? ""),
        JSON.stringify(value, null, 2),
      );
    }),
  );
});
