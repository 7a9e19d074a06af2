import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { InvalidJson, parseStrictJson, parseStrictObject } from "./strict-json.ts";

describe("strict JSON", () => {
  test("accepts what JSON.parse accepts", () => {
    const text = '{"a":[1,{"b":"\\"x\\":"},true,null],"c":{"a":1},"d":{"a":2}}';
    assert.deepEqual(parseStrictJson(text), JSON.parse(text));
  });

  const refused: ReadonlyArray<readonly [string, string]> = [
    ["two members of one name", '{"sub":"a","sub":"b"}'],
    ["two members of one name in two spellings", '{"sub":"a","s\\u0075b":"b"}'],
    ["two members deep inside", '{"a":[{"x":1,"y":{"z":1,"z":2}}]}'],
    ["two empty names", '{"":1,"":2}'],
    ["__proto__", '{"__proto__":{"sub":"a"}}'],
    ["what nests too deep", `${"[".repeat(17)}${"]".repeat(17)}`],
    ["what is no JSON", "{'a':1}"],
    ["what comes after the end", '{"a":1}{"b":2}'],
  ];
  for (const [what, text] of refused)
    test(`refuses ${what}`, () => assert.throws(() => parseStrictJson(text), InvalidJson));

  test("refuses what is not UTF-8, starts with a byte order mark, or is not an object", () => {
    for (const bytes of [Buffer.from([0x7b, 0xff, 0x7d]), Buffer.from("\ufeff{}"), Buffer.from("[]")])
      assert.throws(() => parseStrictObject(bytes), InvalidJson);
  });
});
