import assert from "node:assert/strict";
import { test } from "node:test";
import { completeConditions, kyselyPlace } from "./kysely-place.ts";

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

test("conditions as an object are refused, which would leave out what is undefined", () => {
  const faults = (text: string) =>
    completeConditions([{ path: "packages/server/src/core/users/users.store.ts", text }]).map(
      ({ line }) => line,
    );
  assert.deepEqual(faults("query\n  .where((eb) => eb.and({ org_id: orgId }))"), [2]);
  for (const text of ["eb.or({ id })", "eb.and(ownedBy(owner))"]) assert.deepEqual(faults(text), [1]);
  assert.deepEqual(faults("query.where((eb) => allOf(eb, { org_id: orgId })); // eb.and({ })"), []);
  assert.deepEqual(faults("eb.and([eb.or([one, other])])"), []);
});
