import assert from "node:assert/strict";
import { test } from "node:test";
import { isExactJson } from "./json-exact.ts";

const LONE = "\\ud800";

test("what JSON.stringify gives back unchanged is exact, at any place", () => {
  for (const text of ["1", '"a"', "null", '{"a":[true,"\\ud83d\\ude00",-0.5e300]}', "[]", '{"😀":{}}'])
    assert.ok(isExactJson(JSON.parse(text)), text);
});

test("half a surrogate pair and a number out of range are not, in a member, a list or a name", () => {
  for (const inexact of [`"${LONE}"`, `"x${LONE}y"`, '"\\udc00"', "1e999", "-1e999"])
    for (const text of [inexact, `[1,${inexact}]`, `{"a":{"b":${inexact}}}`])
      assert.ok(!isExactJson(JSON.parse(text)), text);
  assert.ok(!isExactJson(JSON.parse(`[{"${LONE}":1}]`)));
});
