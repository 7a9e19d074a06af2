import assert from "node:assert/strict";
import { test } from "node:test";
import { render } from "../../../html/html.ts";
import { assertEscapes, assertWellMade, testFrame } from "../../../testing/probes/page-checks.ts";
import {
  brokenLinkPage,
  donePage,
  type NewPasswordFailure,
  type NewPasswordView,
  newPasswordPage,
} from "./new-password.page.ts";
import {
  noMailPage,
  type RecoveryFailure,
  type RecoveryView,
  recoveryPage,
  recoverySentPage,
} from "./recovery.page.ts";
import { verifyEmailPage, verifyOfferPage, verifySentPage } from "./verify-email.page.ts";

const frame = {
  ...testFrame,
  organisation: { name: "Acme", accentColor: "#aa3300", logoUri: "/logo.png" },
  application: { name: "Payroll", homepageUri: "https://payroll.example/", logoUri: "/payroll.png" },
};
const hidden = [{ name: "csrf", value: "the-csrf" }];
const form: RecoveryView = {
  ...frame,
  action: "/oauth/1/recovery",
  hidden,
  email: "uma@acme.example",
  signInUri: "/oauth/1/authorize?flow=x",
};
const newPassword: NewPasswordView = {
  ...frame,
  action: "/oauth/1/recovery/sgn_ua_x",
  hidden,
  email: "uma@acme.example",
  leastLength: 12,
  mostLength: 256,
};
const offer = {
  ...frame,
  action: "/oauth/1/verify-email",
  hidden,
  email: "uma@acme.example",
  otherAccountUri: "/o",
};

const failures: readonly RecoveryFailure[] = ["invalid-email", "rate-limited", "session-expired"];
const refusals: readonly NewPasswordFailure[] = [
  "too-short",
  "too-long",
  "repeats-pattern",
  "is-sequence",
  "is-common",
  "is-about-user",
];

/** The one tag of the page with this id. */
const tag = (page: string, id: string): string =>
  new RegExp(`<[a-z]+ [^>]*id="${id}"[^>]*>`).exec(page)?.[0] ?? "";

test("every page is valid HTML and escapes all values, in every state", () => {
  for (const error of [undefined, ...failures]) {
    assertWellMade(recoveryPage({ ...form, error, retryAfterSeconds: 60 }));
    assertEscapes(recoveryPage, { ...form, error });
  }
  for (const error of [undefined, "busy", "session-expired", ...refusals] as const) {
    assertWellMade(newPasswordPage({ ...newPassword, error }));
    assertEscapes(newPasswordPage, { ...newPassword, error });
  }
  for (const error of [undefined, "rate-limited", "session-expired"] as const) {
    assertWellMade(verifyOfferPage({ ...offer, error }));
    assertEscapes(verifyOfferPage, { ...offer, error });
  }
  const sent = { ...frame, email: "uma@acme.example", againUri: "/oauth/1/recovery" };
  const done = { ...frame, heading: "Done", text: "It is done.", onwardUri: "/oauth/1/authorize?flow=x" };
  const broken = { ...frame, anotherUri: "/oauth/1/recovery" };
  const confirm = { ...offer, isExpired: true };
  const noMail = { ...frame, advice: "Ask somebody.", signInUri: "/oauth/1/authorize?flow=x" };
  for (const page of [recoverySentPage(sent), donePage(done), brokenLinkPage(broken), verifySentPage(sent)])
    assertWellMade(page);
  for (const page of [verifyEmailPage(confirm), noMailPage(noMail)]) assertWellMade(page);
  assertEscapes(recoverySentPage, sent);
  assertEscapes(donePage, done);
  assertEscapes(brokenLinkPage, broken);
  assertEscapes(verifySentPage, sent);
  assertEscapes(verifyEmailPage, confirm);
  assertEscapes(noMailPage, noMail);
});

test("the pages work without a flow", () => {
  const { application: _none, ...bare } = form;
  const page = render(recoveryPage({ ...bare, signInUri: undefined }));
  assert.match(page, /<h1>Forgot your password\?<\/h1>/);
  assert.doesNotMatch(page, /<a /);
  const { application: _neither, ...alone } = frame;
  const done = render(donePage({ ...alone, heading: "Done", text: "It is done." }));
  assert.doesNotMatch(done, /recovery-continue/);
});

test("fields have the names and autocomplete values that password managers and the server expect", () => {
  const asking = render(recoveryPage(form));
  assert.match(
    tag(asking, "email"),
    /name="email" type="email" value="uma@acme\.example" autocomplete="username"/,
  );
  assert.match(tag(asking, "recovery-submit"), /type="submit"/);
  const setting = render(newPasswordPage(newPassword));
  assert.match(tag(setting, "email"), /value="uma@acme\.example" autocomplete="username" readonly/);
  assert.match(tag(setting, "password"), /name="password" type="password" autocomplete="new-password"/);
  assert.match(tag(setting, "new-password-submit"), /type="submit"/);
});

test("the password is never repeated, and its errors are announced and linked to the field", () => {
  for (const error of refusals) {
    const page = render(newPasswordPage({ ...newPassword, error }));
    assert.doesNotMatch(tag(page, "password"), /value/);
    assert.match(
      tag(page, "password"),
      /aria-invalid="true" aria-describedby="new-password-notice new-password-hint"/,
    );
    assert.match(tag(page, "new-password-notice"), /role="alert"/);
  }
  const busy = render(newPasswordPage({ ...newPassword, error: "busy", retryAfterSeconds: 2 }));
  assert.doesNotMatch(busy, /aria-invalid/);
  assert.match(busy, /Enter it again in 2 seconds/);
});

test("errors name the next step", () => {
  assert.match(render(newPasswordPage({ ...newPassword, error: "too-short" })), /at least 12 characters/);
  assert.match(render(newPasswordPage({ ...newPassword, error: "too-long" })), /at most 256 characters/);
  const limited = render(recoveryPage({ ...form, error: "rate-limited", retryAfterSeconds: 700 }));
  assert.match(limited, /try again in 12 minutes/);
});
