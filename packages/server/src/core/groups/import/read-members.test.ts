import assert from "node:assert/strict";
import { test } from "node:test";
import { memberImportLimits, readMembers } from "./read-members.ts";

const ID = "0190a1b2-0000-4000-8000-000000000001";
const named = (text: string) => {
  const read = readMembers(text);
  assert.ok("members" in read, JSON.stringify(read));
  return read.members.map(({ line, by, text: typed }) => [line, by, typed]);
};

test("takes the columns id, email and group, the first that is not empty, and ignores others", () => {
  assert.deepEqual(named(`Firstname;EMAIL;id\nAda;ada@a.example;\nBo;;${ID}\nCy;;`), [
    [2, "email", "ada@a.example"],
    [3, "id", ID],
    [4, "any", ""],
  ]);
  assert.deepEqual(named("group\n Payroll "), [[2, "group", "Payroll"]]);
});

test("takes a plain list of addresses, names and ids", () => {
  assert.deepEqual(named(`ada@a.example\n\n"Pay, roll"\n${ID}`), [
    [1, "any", "ada@a.example"],
    [3, "any", "Pay, roll"],
    [4, "id", ID],
  ]);
});

test("refuses what is empty, malformed or more than it takes", () => {
  const fault = (text: string) => {
    const read = readMembers(text);
    return "fault" in read ? [read.fault, read.line ?? 0] : undefined;
  };
  assert.deepEqual(fault(""), ["empty", 0]);
  assert.deepEqual(fault("email\n"), ["empty", 0]);
  assert.deepEqual(fault('email\n"open'), ["malformed", 2]);
  assert.deepEqual(fault("a@b.example\n".repeat(memberImportLimits.rows + 1)), ["too-many", 0]);
  assert.deepEqual(fault("x".repeat(memberImportLimits.bytes + 1)), ["too-long", 0]);
  assert.deepEqual(fault("Team\n".repeat(memberImportLimits.groups + 1)), ["too-many-groups", 0]);
  assert.equal(fault("a@b.example\n".repeat(memberImportLimits.rows)), undefined);
});
