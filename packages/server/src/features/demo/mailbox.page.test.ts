import assert from "node:assert/strict";
import { test } from "node:test";
import { render } from "../../html/html.ts";
import { assertEscapes, assertWellMade, testFrame } from "../../testing/probes/page-checks.ts";
import { type MailboxView, type MailPageView, mailboxPage, mailPage } from "./mailbox.page.ts";

const list: MailboxView = {
  ...testFrame,
  mails: [{ uri: "/demo/mailbox/1", subject: "Set a new password", recipient: "uma@acme.example", at: 0 }],
};
const mail: MailPageView = {
  ...testFrame,
  recipient: "uma@acme.example",
  at: 0,
  mailboxUri: "/demo/mailbox",
  body: {
    subject: "New sign-in to Acme",
    organisation: { name: "Acme", accentColor: "#aa3300" },
    service: "id.example",
    paragraphs: ["Somebody signed in."],
    facts: [{ name: "Browser", value: "Firefox, Windows" }],
    action: { label: "Set a new password", uri: "https://id.example/oauth/1/recovery" },
    closing: ["That is all."],
  },
};

test("list and email render valid HTML and escape every value", () => {
  assertWellMade(mailboxPage(list));
  assertWellMade(mailboxPage({ ...list, mails: [] }));
  assertWellMade(mailPage(mail));
  assertEscapes(mailboxPage, list);
  assertEscapes(mailPage, mail);
});

test("an email shows its recipient, text, facts and link", () => {
  const page = render(mailPage(mail));
  for (const text of [
    "New sign-in to Acme",
    "uma@acme.example",
    "Somebody signed in.",
    "Firefox, Windows",
    "That is all.",
  ])
    assert.ok(page.includes(text), text);
  assert.match(page, /id="mail-action" href="https:\/\/id\.example\/oauth\/1\/recovery">Set a new password</);
});
