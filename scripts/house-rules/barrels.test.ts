import assert from "node:assert/strict";
import { test } from "node:test";
import { barrels } from "./barrels.ts";

test("a wholesale re-export is a fault, a named one is not", () => {
  const path = "packages/protocol/src/index.ts";
  const text =
    'export { a } from "./a.ts";\nexport * from "./b.ts";\nexport type * from "./c.ts";\nexport * as d from "./d.ts";';
  assert.deepEqual(
    barrels([{ path, text }]).map(({ line }) => line),
    [2, 3, 4],
  );
});
