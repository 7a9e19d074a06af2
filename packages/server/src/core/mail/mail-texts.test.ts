import assert from "node:assert/strict";
import { test } from "node:test";
import { mailTemplates, outsideTemplates } from "./mail.ts";
import type { MailText } from "./mail-text.ts";
import {
  editableTemplates,
  fillVariables,
  isEditable,
  mailTextFaults,
  mailTextLimits,
  normalizeMailText,
} from "./mail-texts.ts";

const codesOf = (text: MailText, template: (typeof editableTemplates)[number] = "NewSignIn") =>
  mailTextFaults(template, normalizeMailText(text)).map(({ field, code }) => `${field} ${code}`);

test("an email that may reach somebody who knows nothing of the organisation can't be edited", () => {
  const unproven = [...outsideTemplates, "VerifyEmail", "ChangeEmail"];
  for (const template of [...unproven, "toString"]) assert.equal(isEditable(template), false, template);
  // Administrators get these, with the user's name and an address of the console or of what was done.
  const fixed = new Set<string>([
    ...unproven,
    "FactorResetRequested",
    "BreakGlassUsed",
    "ConnectionKeysChanged",
    "SignUpsWaiting",
    // Their readers are users only afterwards, or never.
    "SignUpApproved",
    "SignUpRejected",
  ]);
  assert.deepEqual(
    editableTemplates.toSorted(),
    mailTemplates.filter((template) => !fixed.has(template)).toSorted(),
  );
});

test("takes plain text with the email's variables", () => {
  assert.deepEqual(
    codesOf({
      subject: "New sign-in to {organisation}",
      heading: "Was that you?",
      body: "Somebody signed in at {time}.\r\n\r\nSee you soon & be well – 2 < 3, “quotes” and 你好.",
      button: "Set a new password",
    }),
    [],
  );
});

test("takes no line break or direction character in what becomes a header", () => {
  for (const subject of [
    "A\r\nBcc: b@c",
    "A\nB",
    "A\0B",
    "a\u202Eb",
    "a\u2066b",
    "a\u2028b",
    "a\u200Bb",
    "a\uD800b",
  ])
    assert.deepEqual(codesOf({ subject }), ["subject characters"], JSON.stringify(subject));
  assert.deepEqual(codesOf({ body: "one\ntwo\u202E" }), ["body characters"]);
});

test("takes no way to reach somebody else", () => {
  const ways = [
    "https://evil.example/reset",
    "Visit evil.example now",
    "www evil",
    "write to boss@evil.example",
    "Call +49 30 1234567",
    "ｅｖｉｌ．ｅｘａｍｐｌｅ",
    "evil[.]example",
    "192.0.2.1",
  ];
  for (const body of ways) assert.deepEqual(codesOf({ body }), ["body contact"], body);
});

test("takes only listed variables, and asks for those that the email needs", () => {
  for (const body of [
    "{link}",
    "{ organisation }",
    "{organisation",
    "}",
    "{constructor}",
    "{{time}}",
    "${time}}",
  ])
    assert.deepEqual(codesOf({ body }), ["body variables"], body);
  assert.deepEqual(codesOf({ body: "{factor}" }), ["body variables"], "of another email");
  assert.deepEqual(codesOf({ body: "Something was added." }, "FactorAdded"), ["body missing-variable"]);
  assert.deepEqual(codesOf({ body: "Added: {factor}" }, "FactorAdded"), []);
  assert.deepEqual(codesOf({ button: "Go" }, "AccountDeleted"), ["button no-button"]);
});

test("has limits", () => {
  for (const [field, limit] of Object.entries(mailTextLimits)) {
    assert.deepEqual(codesOf({ [field]: "a".repeat(limit) }), []);
    assert.deepEqual(codesOf({ [field]: "a".repeat(limit + 1) }), [`${field} length`]);
  }
});

test("a value is never read as a variable", () => {
  const values = { organisation: "{time}", time: "$& now" };
  assert.equal(fillVariables("{organisation} {time} {toString}", values), "{time} $& now {toString}");
});

test("an empty field is the built-in text", () => {
  assert.deepEqual(normalizeMailText({ subject: "  ", body: " a\r\nb ", button: "" }), { body: "a\nb" });
});
