import assert from "node:assert/strict";
import { test } from "node:test";
import { unfinishedMarks } from "./unfinished-marks.ts";

test("marks of unfinished work are found by line, in comments too, and ordinary words are not", () => {
  const marks = [`TO${"DO"}`, `FIX${"ME"}`];
  const text = `// ${marks[0]}: later\nconst ${marks[0]?.toLowerCase()} = 1;\n/* ${marks[1]} */`;
  const lines = unfinishedMarks([{ path: "a.ts", text }]).map(({ line }) => line);
  assert.deepEqual(lines, [1, 3]);
});
