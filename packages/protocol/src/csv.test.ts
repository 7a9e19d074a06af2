import assert from "node:assert/strict";
import { test } from "node:test";
import { csvLine } from "./csv.ts";

test("quotes what RFC 4180 §2 quotes", () => {
  assert.equal(csvLine(["a", 'b "c"', "d,e", "f\ng", ""]), 'a,"b ""c""","d,e","f\ng",\r\n');
});

test("no cell begins with a formula, wherever a spreadsheet sees one begin", () => {
  for (const formula of ["=1+1", "+1", "-1", "@SUM(A1)", "＝1", "\t=1", "x;=1", "x\t@y", 'x\n"=1', " =1"])
    assert.match(csvLine([formula]), /'\t?[=+\-@＝]/, formula);
  assert.equal(csvLine(["a-b", "a=b", "x@y.example"]), "a-b,a=b,x@y.example\r\n");
});
