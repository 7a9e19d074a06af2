import assert from "node:assert/strict";
import { test } from "node:test";
import Type from "typebox";
import { ApiError } from "./api-error.ts";
import { validator } from "./validation.ts";

const check = validator(
  Type.Object(
    {
      name: Type.String(),
      kind: Type.Optional(Type.Enum(["a", "b"])),
      sort: Type.Optional(Type.Enum(["at", "-at", ""])),
      part: Type.Optional(
        Type.Union([Type.Object({ size: Type.Number() }, { additionalProperties: false }), Type.Null()]),
      ),
    },
    { additionalProperties: false },
  ),
);

function faultsOf(value: unknown) {
  try {
    check(value);
  } catch (error) {
    assert.ok(error instanceof ApiError);
    return error.errors?.map(({ path, message }) => `${path}: ${message}`);
  }
  return [];
}

test("reports unknown, missing and invalid members in plain words", () => {
  assert.deepEqual(faultsOf({ name: "x", "a/b": 1 }), ["/a~1b: is unknown"]);
  assert.deepEqual(faultsOf({}), ["/name: is required"]);
  assert.deepEqual(faultsOf({ name: "x", kind: "c" }), ["/kind: must be one of a, b"]);
  assert.deepEqual(faultsOf({ name: 1 }), ["/name: must be string"]);
  assert.deepEqual(faultsOf({ name: "x", kind: "a" }), []);
  assert.deepEqual(faultsOf({ name: "x", sort: "by" }), ["/sort: must be one of at, -at"]);
});

test("what is wrong inside a member that may be null is told alone", () => {
  assert.deepEqual(faultsOf({ name: "x", part: { size: 1, zz: 1 } }), ["/part/zz: is unknown"]);
  assert.deepEqual(faultsOf({ name: "x", part: {} }), ["/part/size: is required"]);
  assert.deepEqual(faultsOf({ name: "x", part: { size: "1" } }), ["/part/size: must be number"]);
  assert.deepEqual(faultsOf({ name: "x", part: 3 }), ["/part: must be object"]);
  assert.deepEqual(faultsOf({ name: "x", part: null }), []);
});
