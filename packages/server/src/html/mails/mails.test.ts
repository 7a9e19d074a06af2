import assert from "node:assert/strict";
import { test } from "node:test";
import { assertEscapes } from "../../testing/probes/page-checks.ts";
import { render } from "../html.ts";
import { messages } from "../messages/messages.ts";
import { mailHtml, mailText } from "./mail-body.ts";
import { type MailView, mailBody } from "./mails.ts";

const words = messages(["en"]);
const around = {
  organisation: { name: "“Acme”", accentColor: "#aa3300" },
  service: "id.example",
  recoveryUri: "https://id.example/oauth/1/recovery",
};
const at = Date.UTC(2026, 10, 21, 9, 30);
const seen = { at, address: "192.0.2.7", browser: "Firefox, Windows" };
const link = "https://id.example/oauth/1/recovery/sgn_ua_secret";
const mails: readonly MailView[] = [
  { ...around, template: "ResetPassword", data: { link, expiresAt: at } },
  { ...around, template: "VerifyEmail", data: { link, expiresAt: at } },
  { ...around, template: "PasswordChanged", data: seen },
  {
    ...around,
    template: "PasswordChanged",
    data: {
      ...seen,
      factors: { passkeysKept: 1, passkeysRemoved: 2, totp: "removed", recoveryCodesRemoved: true },
    },
  },
  { ...around, template: "AcceptRoaming", data: { link, expiresAt: at } },
  { ...around, template: "AcceptInvitation", data: { link, expiresAt: at, inviter: "ada@acme.example" } },
  { ...around, template: "NewSignIn", data: seen },
  { ...around, template: "IdentityLinked", data: seen },
  { ...around, template: "FactorAdded", data: { ...seen, factor: "passkey" } },
  { ...around, template: "FactorRemoved", data: { at, factor: "totp" } },
  { ...around, template: "ChangeEmail", data: { link, expiresAt: at, account: "old@acme.example" } },
];
const htmlOf = (view: MailView) => mailHtml(mailBody(view, words), words);

test("escapes every value", () => {
  for (const view of mails) assertEscapes(htmlOf, view);
});

test("every email names the organisation, has the same text in plain text and HTML, and one link", () => {
  for (const view of mails) {
    const body = mailBody(view, words);
    const [text, markup] = [mailText(body, words), render(htmlOf(view))];
    assert.match(body.subject, /Acme/);
    for (const part of body.paragraphs) assert.ok(text.includes(part) && markup.includes(part));
    const address = "data" in view && "link" in view.data ? link : around.recoveryUri;
    assert.ok(text.includes(`\n${address}\n`));
    assert.deepEqual([...new Set([...markup.matchAll(/href="([^"]*)"/g)].map(([, uri]) => uri))], [address]);
  }
});

test("a code stands in the text and in the HTML, and not in the subject", () => {
  const view: MailView = { ...around, template: "EmailCode", data: { code: "048213", expiresAt: at } };
  assertEscapes(htmlOf, view);
  const body = mailBody(view, words);
  for (const part of [mailText(body, words), render(htmlOf(view))]) assert.match(part, /048213/);
  assert.doesNotMatch(body.subject, /048213/);
  assert.doesNotMatch(render(htmlOf(view)), /href=/);
});

test("the HTML loads no external resource", () => {
  for (const view of mails) {
    const markup = render(htmlOf(view));
    assert.doesNotMatch(
      markup,
      /<(?:img|link|script|iframe|object|video|audio|source|style)|url\(|\ssrc=|@import/i,
    );
  }
});

test("a notice shows time, browser and IP address, and advises to set a new password", () => {
  const text = mailText(mailBody(mails[6] as MailView, words), words);
  assert.match(
    text,
    /Time: 21 Nov 2026, 09:30 UTC\nBrowser: Firefox, Windows\nNetwork address: 192\.0\.2\.7/,
  );
  assert.match(text, /Set a new password immediately/);
});

test("an email to a new address says whose account gets it", () => {
  const view = mails.find(({ template }) => template === "ChangeEmail") as MailView;
  assert.match(mailText(mailBody(view, words), words), /^Account: old@acme\.example$/m);
});

test("an email with a link states its expiry", () => {
  const text = mailText(mailBody(mails[0] as MailView, words), words);
  assert.match(text, /The link works once and expires on 21 Nov 2026, 09:30 UTC\./);
});
