import assert from "node:assert/strict";
import { test } from "node:test";
import type { StoredEvent } from "../audit.store.ts";
import { lineFormats } from "./export.ts";

const event = (target: string, details: StoredEvent["details"] = {}): StoredEvent => ({
  orgId: "o",
  id: "e",
  at: 0,
  actor: "operator",
  action: "application.changed",
  target,
  details,
});
const BEFORE = ",,e,1970-01-01T00:00:00.000Z,operator,application.changed,";
/** The line's cell of the target, as it stands there. */
const cell = (target: string) => {
  const line = lineFormats.csv.line(event(target));
  assert.ok(line.startsWith(BEFORE) && line.endsWith(",,{},,,,,\r\n"), line);
  return line.slice(BEFORE.length, -",,{},,,,,\r\n".length);
};

test("neutralises spreadsheet formulas at the start of a cell and after a semicolon", () => {
  for (const start of ["=", "+", "-", "@", "＝", "＋", "－", "＠"]) {
    assert.equal(cell(`${start}cmd`), `'${start}cmd`);
    assert.equal(cell(`a;${start}cmd;b;${start}`), `a;'${start}cmd;b;'${start}`);
  }
  assert.equal(cell("a; =cmd"), "a; '=cmd");
  assert.equal(cell('a;"=cmd"'), `"a;""'=cmd"""`);
  assert.equal(cell("\tcmd"), "'\tcmd");
  assert.equal(cell("\rcmd"), `"'\rcmd"`);
  assert.equal(cell("a\t=cmd"), "a\t'=cmd");
  assert.equal(cell("a\r\n=cmd"), `"a\r\n'=cmd"`);
});

test("leaves other cells unchanged", () => {
  for (const text of ["a=b", "a-b+c@d", "a;b=c", "2;3", "https://a.example/?b=c"])
    assert.equal(cell(text), text);
  assert.equal(cell("a,=b"), `"a,=b"`);
});

test("details stay the same JSON except for formulas within texts", () => {
  const details = { name: "x;=HYPERLINK(1)", changed: ["-1", "=2"], many: -5 };
  const line = lineFormats.csv.line(event("t", details));
  const text = line.slice(line.indexOf('"{') + 1, line.lastIndexOf('"')).replaceAll('""', '"');
  assert.deepEqual(JSON.parse(text), { ...details, name: "x;'=HYPERLINK(1)" });
});

test("JSON Lines contain the stored event", () => {
  const details = { name: "x;=HYPERLINK(1)" };
  const record = JSON.parse(lineFormats.jsonl.line(event("=cmd", details)));
  assert.deepEqual([record.target, record.details], ["=cmd", details]);
});
