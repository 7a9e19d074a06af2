import assert from "node:assert/strict";
import { test } from "node:test";
import { parseJson } from "./json-body.ts";

test("accepts UTF-8 JSON without NUL within the nesting limit", () => {
  const nested = (depth: number) => Buffer.from("[".repeat(depth) + "]".repeat(depth));
  assert.equal(parseJson(Buffer.alloc(0)), undefined);
  assert.deepEqual(parseJson(Buffer.from('{"a":"\\\\u0000"}')), { a: "\\u0000" });
  assert.ok(parseJson(nested(32)));
  const refused = ["{", '{"a":"\\u0000"}', Buffer.from([0x22, 0xff, 0x22]), nested(33), nested(30_000)];
  refused.push('{"a":"x\\ud800"}', '{"\\udc00":1}', "[1e999]");
  for (const body of refused) assert.throws(() => parseJson(Buffer.from(body)), { status: 400 });
});
