import assert from "node:assert/strict";
import { test } from "node:test";
import { toRecord, toRow } from "./records.ts";

test("a record has its row's values under the names of its members, and the other way round", () => {
  const row = { org_id: "org", id: "id", is_change: 1, created_at: 2, jwk_sha256: null };
  const record = { orgId: "org", id: "id", isChange: 1, createdAt: 2, jwkSha256: null };
  for (let round = 0; round < 2; round++) {
    assert.deepEqual(toRecord(row), record);
    assert.deepEqual(toRow(record), row);
  }
  assert.deepEqual(
    toRecord(Object.assign(Object.create(null) as object, row)),
    record,
    "as node:sqlite gives it",
  );
});
