import assert from "node:assert/strict";
import { test } from "node:test";
import { selectTests } from "./test-selection.ts";

const files = [
  "e2e/login.test.ts",
  "packages/server/src/core/a.test.ts",
  "packages/server/src/core-x/b.test.ts",
];

test("without a pattern every test runs", () => {
  assert.deepEqual(selectTests(files, []), files);
});

test("a folder, a file and a glob name their tests, and nothing else", () => {
  assert.deepEqual(selectTests(files, ["packages/server/src/core"]), [files[1]]);
  assert.deepEqual(selectTests(files, ["./packages/server/src/core/"]), [files[1]]);
  assert.deepEqual(selectTests(files, ["e2e/login.test.ts"]), [files[0]]);
  assert.deepEqual(selectTests(files, ["**/b.test.ts", "e2e"]), [files[0], files[2]]);
  assert.deepEqual(selectTests(files, ["missing"]), []);
});
