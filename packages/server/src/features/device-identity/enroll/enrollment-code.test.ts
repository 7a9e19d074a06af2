import assert from "node:assert/strict";
import { test } from "node:test";
import { codeHashOf, newEnrollmentCode } from "./enrollment-code.ts";

test("a code is five groups of five characters that nobody mixes up, and no two are the same", () => {
  const codes = Array.from({ length: 200 }, newEnrollmentCode);
  for (const code of codes) assert.match(code, /^([0-9A-HJKMNP-TV-Z]{5}-){4}[0-9A-HJKMNP-TV-Z]{5}$/);
  assert.equal(new Set(codes).size, codes.length);
  // All 32 characters: 125 bits are 25 times five.
  assert.equal(new Set(codes.join("").replaceAll("-", "")).size, 32);
});

test("however it is typed, it is one code", () => {
  const hash = codeHashOf("01ABC-DEFGH-JKMNP-QRSTV-WXYZ0");
  assert.ok(hash);
  for (const typed of [
    "01abc-defgh-jkmnp-qrstv-wxyz0",
    "01ABCDEFGHJKMNPQRSTVWXYZ0",
    " oIabc-defgh-jkmnp-qrstv-wxyzO\n",
    "0LABC-DEFGH-JKMNP-QRSTV-WXYZ0",
    "0-1-A-B-C-D-E-F-G-H-J-K-M-N-P-Q-R-S-T-V-W-X-Y-Z-0",
  ])
    assert.equal(codeHashOf(typed), hash, typed);
  assert.notEqual(codeHashOf("01ABC-DEFGH-JKMNP-QRSTV-WXYZ1"), hash);
});

test("what cannot be a code has no hash", () => {
  for (const typed of [
    "",
    "01ABC-DEFGH-JKMNP-QRSTV-WXYZ",
    "01ABC-DEFGH-JKMNP-QRSTV-WXYZ00",
    "01ABC DEFGH JKMNP QRSTV WXYZ0",
    "U1ABC-DEFGH-JKMNP-QRSTV-WXYZ0",
    "01ABC-DEFGH-JKMNP-QRSTV-WXYZ\u0660",
    "ﬁ1ABC-DEFGH-JKMNP-QRSTV-WXYZ0",
  ])
    assert.equal(codeHashOf(typed), undefined, JSON.stringify(typed));
});
