import assert from "node:assert/strict";
import { test } from "node:test";
import { parseForm } from "@signet/protocol/form";
import { agentAnswer, readFormAnswer, readJsonAnswer } from "./respond.route.ts";

const json = (value: unknown) => readJsonAnswer(Buffer.from(JSON.stringify(value)));

test("reads the same answer from a form and from JSON", () => {
  const expected = { csrf: "t", challengeId: "c", answer: "12 34", isCancel: false };
  assert.deepEqual(readFormAnswer(parseForm("csrf=t&challengeId=c&answer=12+34")), expected);
  assert.deepEqual(json({ csrf: "t", challengeId: "c", answer: "12 34" }), expected);
  assert.equal(readFormAnswer(parseForm("csrf=t&cancel=true")).isCancel, true);
  assert.equal(json({ csrf: "t", cancel: true }).isCancel, true);
  assert.equal(json({ csrf: "t", cancel: false }).isCancel, false);
});

test("ignores the csrf token of a form with repeated fields", () => {
  assert.equal(readFormAnswer(parseForm("csrf=t&challengeId=c&answer=1&answer=2")).csrf, undefined);
});

test("rejects non-objects, and unknown or mistyped members", () => {
  for (const value of [null, [], "x", 1, { csrf: 1 }, { challengeId: {} }, { cancel: "true" }, { other: 1 }])
    assert.throws(() => json(value), /the body is invalid/, JSON.stringify(value));
  assert.throws(() => readJsonAnswer(Buffer.from("{")), { code: "malformed" });
});

test("a number match answers true, whatever the browser sends", () => {
  assert.equal(agentAnswer("number_match", "99"), true);
  assert.equal(agentAnswer("number_match", undefined), true);
});

test("trims a PIN or confirmation, and limits its length", () => {
  for (const type of ["pin", "confirm"] as const) {
    assert.equal(agentAnswer(type, " 123 456\n"), "123 456");
    for (const answer of [undefined, "", "  ", 5, {}, "x".repeat(1_001)])
      assert.throws(() => agentAnswer(type, answer), { code: "invalid_request" }, String(answer));
  }
});

test("parses an assertion that a form sends as text", () => {
  const assertion = { id: "k", response: { signature: "s" } };
  assert.deepEqual(agentAnswer("webauthn", assertion), assertion);
  assert.deepEqual(agentAnswer("webauthn", JSON.stringify(assertion)), assertion);
  for (const answer of ["", "{", "null", 3, undefined, { a: "x".repeat(16_001) }])
    assert.throws(() => agentAnswer("webauthn", answer), { code: "invalid_request" });
});
