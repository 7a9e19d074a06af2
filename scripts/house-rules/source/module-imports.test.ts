import assert from "node:assert/strict";
import { test } from "node:test";
import { listImports } from "./module-imports.ts";

function imports(text: string): string[] {
  const found = listImports({ path: "packages/server/src/core/users/users.ts", text });
  return found.map(({ specifier, line, isTypeOnly }) => `${line} ${specifier}${isTypeOnly ? " type" : ""}`);
}

test("finds every form of import with its line", () => {
  const text = [
    'import a, { type b } from "one";',
    'import type { c } from "two";',
    "import {",
    "  d,",
    '} from "./three.ts";',
    'export { e } from "four";',
    'import "five";',
    'const f = await import("six");',
    'import g from "seven" with { type: "json" };',
  ];
  assert.deepEqual(imports(text.join("\n")), [
    "1 one",
    "2 two type",
    "5 ./three.ts",
    "6 four",
    "7 five",
    "8 six",
    "9 seven",
  ]);
});

test("takes no comment, no string and no plain export for an import", () => {
  const text =
    '// import a from "one"\nconst b = `import c from "two"`;\nexport const from = "three";\nexport { b };\n"x";';
  assert.deepEqual(imports(text), []);
});

test("says which file of the repository an import names", () => {
  const text =
    'import "./store.ts"; import "../../db/open.ts"; import "@signet/protocol/tpm/quote"; import "pg";';
  const targets = listImports({ path: "packages/server/src/core/users/users.ts", text }).map(
    ({ target }) => target,
  );
  assert.deepEqual(targets, [
    "packages/server/src/core/users/store.ts",
    "packages/server/src/db/open.ts",
    "packages/protocol/src/tpm/quote.ts",
    undefined,
  ]);
});
