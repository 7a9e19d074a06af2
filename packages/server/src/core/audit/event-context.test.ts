import assert from "node:assert/strict";
import { test } from "node:test";
import { duringRequest } from "./audited-request.ts";
import { eventContext, joinDetails, readTypedEmail, splitDetails, typedEmailHash } from "./event-context.ts";

const FIREFOX = "Mozilla/5.0 (Windows NT 10.0; rv:140.0) Gecko/20100101 Firefox/140.0";
const nothing = { applicationId: undefined, subjectId: undefined, typedEmail: undefined };

test("an event has the reference and the browser of its request, bounded and in fixed words", () => {
  assert.equal(eventContext(nothing), undefined);
  const made = duringRequest({ requestId: "n".repeat(1_000), userAgent: `<script>${FIREFOX}` }, () =>
    eventContext({ ...nothing, applicationId: "app" }),
  );
  const requestId = "n".repeat(200);
  assert.deepEqual(made, { requestId, browser: "Firefox, Windows", applicationId: "app" });
});

test("details and context come apart as they were joined", () => {
  const details = { reason: "wrong password", scopes: ["a"] };
  const context = { requestId: "n-1" };
  const joined = joinDetails(details, context);
  assert.equal(
    JSON.stringify(joined),
    '{"reason":"wrong password","scopes":["a"],"context":{"requestId":"n-1"}}',
  );
  assert.deepEqual(splitDetails(joined), { details, context });
  assert.equal(joinDetails(details, undefined), details);
  for (const tampered of [
    { context: "x" },
    { context: null },
    { context: [1] },
    { context: { requestId: 1 } },
  ])
    assert.deepEqual(splitDetails(tampered), { details: tampered });
});

test("a typed email address is kept only if it is one and no account has it", () => {
  const kept = (text: string, isKnown = false) => readTypedEmail(text, isKnown).email;
  assert.equal(kept(" Nina@Acme.Example "), "nina@acme.example");
  assert.equal(kept("nina@bücher.example"), "nina@bücher.example");
  assert.equal(kept("nina@acme.example", true), "", "the event names the account");
  for (const text of [
    "correct horse",
    "P@ssw0rd",
    "P@ss.w0rd!x",
    "nina@acme",
    "",
    `${"x".repeat(400)}@acme.example`,
  ])
    assert.equal(kept(text), "", text);
});

test("the same address has another hash in every event", () => {
  const [one, other] = [
    readTypedEmail("nina@acme.example", false),
    readTypedEmail("nina@acme.example", false),
  ];
  assert.notEqual(typedEmailHash(one), typedEmailHash(other));
  assert.equal(typedEmailHash(one), typedEmailHash({ ...one }));
});
