import assert from "node:assert/strict";
import { test } from "node:test";
import { fileLength } from "./file-length.ts";

test("a file of 400 lines passes and one of 401 does not", () => {
  const faultsAt = (lines: number) => fileLength([{ path: "a.css", text: "x\n".repeat(lines) }]).length;
  assert.equal(faultsAt(400), 0);
  assert.equal(faultsAt(401), 1);
});
