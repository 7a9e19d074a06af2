import assert from "node:assert/strict";
import { test } from "node:test";
import { ownershipFault } from "./secret-file-rules.ts";

const fault = (uid: number, mode: number, user: number | undefined = 1000) =>
  ownershipFault("/keys", { uid, mode }, user);

test("a secret file and its folder belong to the user or to root", () => {
  for (const uid of [1000, 0]) assert.equal(fault(uid, 0o700), undefined);
  assert.match(fault(1001, 0o700) ?? "", /^\/keys belongs to another user \(uid 1001\)/);
  // Root is no exception: another user's file is another user's choice.
  assert.match(fault(1000, 0o700, 0) ?? "", /belongs to another user/);
});

test("nobody else can write to them, except to root's sticky folders", () => {
  for (const mode of [0o720, 0o702, 0o777, 0o775, 0o1777])
    assert.match(
      fault(1000, mode) ?? "",
      /^others can write to \/keys: chmod go-w \/keys$/,
      mode.toString(8),
    );
  assert.equal(fault(1000, 0o755), undefined);
  assert.equal(fault(0, 0o1777), undefined, "as /tmp");
  assert.match(fault(0, 0o777) ?? "", /others can write/);
});

test("systems without user ids have nothing to check", () => {
  assert.equal(ownershipFault("/keys", { uid: 5, mode: 0o777 }, undefined), undefined);
});
