import assert from "node:assert/strict";
import { test } from "node:test";
import { kyselyPlace } from "./kysely-place.ts";

function isRefused(path: string, specifier = "kysely"): boolean {
  return kyselyPlace([{ path, text: `import type { Selectable } from "${specifier}";` }]).length === 1;
}

test("kysely is refused outside store.ts files, db/ and tests", () => {
  assert.ok(isRefused("packages/server/src/core/users/users.ts"));
  assert.ok(isRefused("packages/server/src/features/oauth/jwks.route.ts", "kysely/helpers/postgres"));
  assert.ok(isRefused("packages/server/src/core/users/user-store.ts"));
});

test("kysely is at home in store.ts files, db/ and tests", () => {
  for (const place of [
    "core/users/users.store.ts",
    "db/migrations/0001-start.ts",
    "core/users/x.test.ts",
    "testing/rows.ts",
  ]) {
    assert.ok(!isRefused(`packages/server/src/${place}`), place);
  }
  assert.ok(!isRefused("packages/server/src/core/users/users.ts", "../../db/open.ts"));
});
