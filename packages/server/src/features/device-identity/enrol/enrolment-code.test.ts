import assert from "node:assert/strict";
import { test } from "node:test";
import { enrolmentCodeHash, newEnrolmentCode } from "./enrolment-code.ts";

test("a code has five groups of five unambiguous characters", () => {
  const codes = Array.from({ length: 200 }, newEnrolmentCode);
  for (const code of codes) assert.match(code, /^([0-9A-HJKMNP-TV-Z]{5}-){4}[0-9A-HJKMNP-TV-Z]{5}$/);
  assert.equal(new Set(codes).size, codes.length);
  // All 32 characters: 125 bits are 25 times five.
  assert.equal(new Set(codes.join("").replaceAll("-", "")).size, 32);
});

test("normalises spelling variants of a code", () => {
  const hash = enrolmentCodeHash("01ABC-DEFGH-JKMNP-QRSTV-WXYZ0");
  assert.ok(hash);
  for (const typed of [
    "01abc-defgh-jkmnp-qrstv-wxyz0",
    "01ABCDEFGHJKMNPQRSTVWXYZ0",
    " oIabc-defgh-jkmnp-qrstv-wxyzO\n",
    "0LABC-DEFGH-JKMNP-QRSTV-WXYZ0",
    "0-1-A-B-C-D-E-F-G-H-J-K-M-N-P-Q-R-S-T-V-W-X-Y-Z-0",
  ])
    assert.equal(enrolmentCodeHash(typed), hash, typed);
  assert.notEqual(enrolmentCodeHash("01ABC-DEFGH-JKMNP-QRSTV-WXYZ1"), hash);
});

test("has no hash for anything but a code", () => {
  for (const typed of [
    "",
    "01ABC-DEFGH-JKMNP-QRSTV-WXYZ",
    "01ABC-DEFGH-JKMNP-QRSTV-WXYZ00",
    "01ABC DEFGH JKMNP QRSTV WXYZ0",
    "U1ABC-DEFGH-JKMNP-QRSTV-WXYZ0",
    "01ABC-DEFGH-JKMNP-QRSTV-WXYZ\u0660",
    "ﬁ1ABC-DEFGH-JKMNP-QRSTV-WXYZ0",
  ])
    assert.equal(enrolmentCodeHash(typed), undefined, JSON.stringify(typed));
});
