import assert from "node:assert/strict";
import { test } from "node:test";
import { sha256Base64url } from "@signet/protocol/hash";
import { newDeviceCodes, readUserCode } from "./device-authorization.ts";

test("draws user codes of eight from twenty letters without repeats", () => {
  const codes = Array.from({ length: 500 }, () => newDeviceCodes());
  for (const { userCode, deviceCode } of codes) {
    assert.match(userCode, /^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/);
    assert.match(deviceCode, /^sgn_dc_[A-Za-z0-9_-]{43}$/);
  }
  assert.equal(new Set(codes.map(({ userCode }) => userCode)).size, codes.length);
  const letters = codes.map(({ userCode }) => userCode.replace("-", "")).join("");
  assert.equal(new Set(letters).size, 20);
});

test("reads a user code in any case, with or without dash and spaces", () => {
  const { userCode, userCodeHash } = newDeviceCodes();
  const plain = userCode.replace("-", "");
  for (const typed of [
    userCode,
    plain,
    plain.toLowerCase(),
    ` ${userCode.toLowerCase()} `,
    `${plain.slice(0, 4)} – ${plain.slice(4)}`,
  ])
    assert.deepEqual(readUserCode(typed), { userCode, hash: userCodeHash }, typed);
  assert.equal(userCodeHash, sha256Base64url(plain));
});

test("rejects input that cannot be a user code", () => {
  for (const typed of [
    "",
    "BCDF-GHJ",
    "BCDF-GHJKL",
    "ABCD-EFGH",
    "BCDF-GH1K",
    "ｂｃｄｆｇｈｊｋ",
    "B".repeat(100_000),
  ])
    assert.equal(readUserCode(typed), undefined, typed.slice(0, 20));
});
