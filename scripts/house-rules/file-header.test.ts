import assert from "node:assert/strict";
import { test } from "node:test";
import { fileHeader } from "./file-header.ts";

const isRefused = (path: string, text: string): boolean => fileHeader([{ path, text }]).length === 1;

test("a source file of a package begins with a comment", () => {
  const path = "packages/server/src/core/users/users.ts";
  assert.ok(isRefused(path, 'import { x } from "./x.ts";\n/** Late. */\n'));
  for (const text of ["/** Users. */\n", "// Generated.\n", "#!/usr/bin/env node\n/** The program. */\n"])
    assert.ok(!isRefused(path, text), text);
});

test("tests and migrations are named by what they are", () => {
  for (const path of ["core/users/users.test.ts", "testing/databases.ts", "db/migrations/0001-foundation.ts"])
    assert.ok(!isRefused(`packages/server/src/${path}`, "export {};\n"), path);
});
