import assert from "node:assert/strict";
import { test } from "node:test";
import { parseForm } from "@signet/protocol/form";
import { answerOfForm, answerOfJson, answerTo } from "./wait-answer.ts";

const json = (value: unknown) => answerOfJson(Buffer.from(JSON.stringify(value)));

test("form and JSON say the same", () => {
  const expected = { csrf: "t", challengeId: "c", answer: "12 34", isCancel: false };
  assert.deepEqual(answerOfForm(parseForm("csrf=t&challengeId=c&answer=12+34")), expected);
  assert.deepEqual(json({ csrf: "t", challengeId: "c", answer: "12 34" }), expected);
  assert.equal(answerOfForm(parseForm("csrf=t&cancel=true")).isCancel, true);
  assert.equal(json({ csrf: "t", cancel: true }).isCancel, true);
  assert.equal(json({ csrf: "t", cancel: false }).isCancel, false);
});

test("a form with a field that is there twice is none of ours", () => {
  assert.equal(answerOfForm(parseForm("csrf=t&challengeId=c&answer=1&answer=2")).csrf, undefined);
});

test("what is no answer is refused: other JSON, unknown and mistyped members", () => {
  for (const value of [null, [], "x", 1, { csrf: 1 }, { challengeId: {} }, { cancel: "true" }, { other: 1 }])
    assert.throws(() => json(value), /cannot be used/, JSON.stringify(value));
  assert.throws(() => answerOfJson(Buffer.from("{")), { code: "malformed" });
});

test("a number is answered by having been entered, whatever the browser says", () => {
  assert.equal(answerTo("number_match", "99"), true);
  assert.equal(answerTo("number_match", undefined), true);
});

test("a code and a confirmation are texts of some length, without the spaces of a paste", () => {
  for (const type of ["pin", "confirm"] as const) {
    assert.equal(answerTo(type, " 123 456\n"), "123 456");
    for (const answer of [undefined, "", "  ", 5, {}, "x".repeat(1_001)])
      assert.throws(() => answerTo(type, answer), { code: "invalid_request" }, String(answer));
  }
});

test("an assertion is an object, also where a form could only send its text", () => {
  const assertion = { id: "k", response: { signature: "s" } };
  assert.deepEqual(answerTo("webauthn", assertion), assertion);
  assert.deepEqual(answerTo("webauthn", JSON.stringify(assertion)), assertion);
  for (const answer of ["", "{", "null", 3, undefined, { a: "x".repeat(16_001) }])
    assert.throws(() => answerTo("webauthn", answer), { code: "invalid_request" });
});
