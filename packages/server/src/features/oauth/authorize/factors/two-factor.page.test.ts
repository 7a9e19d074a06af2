import assert from "node:assert/strict";
import { test } from "node:test";
import { render } from "../../../../html/html.ts";
import { assertEscapes, assertWellMade, testFrame } from "../../../../testing/probes/page-checks.ts";
import {
  type EnrolmentView,
  enrolmentPage,
  type RecoveryCodesView,
  recoveryCodesPage,
} from "./enrolment.page.ts";
import { type TwoFactorView, twoFactorPage } from "./two-factor.page.ts";

const common = {
  ...testFrame,
  organisation: { name: "Acme", accentColor: "#aa3300" },
  application: { name: "Payroll", homepageUri: "https://payroll.example/start" },
  user: { email: "ada@acme.example" },
  otherAccountUri: "/oauth/1/authorize?flow=f",
  action: "/oauth/1/twofactor",
  csrf: "the-csrf",
  flow: "the-flow",
  pending: "the-pending",
};
const view: TwoFactorView = {
  ...common,
  method: "totp",
  others: ["passkey", "recovery"],
  remember: { checked: false },
  script: "/assets/passkey.js",
};
const options = '{"challenge":"AAAA"}';
const enrolment: EnrolmentView = {
  ...common,
  laterAction: "/oauth/1/passkey-offer",
  askedBy: "organisation",
  enrolment: "the-secret-sealed",
  shown: {
    method: "totp",
    setup: {
      qr: { size: 29, path: "M4 4h7v1h-7z" },
      uri: "otpauth://totp/Acme:ada?secret=ABC",
      key: "ABCDEFGH",
    },
  },
  others: ["passkey"],
  script: "/assets/copy.js",
};
const tag = (page: string, id: string): string =>
  new RegExp(`<[a-z]+ [^>]*id="${id}"[^>]*>`).exec(page)?.[0] ?? "";

test("the pages are valid HTML and escape all values, in every state", () => {
  for (const method of ["totp", "recovery", "passkey"] as const) {
    for (const error of [undefined, "wrong", "rate-limited"] as const) {
      const shown = { ...view, method, options, error, retryAfterSeconds: 60 };
      assertWellMade(twoFactorPage(shown));
      assertEscapes(twoFactorPage, { ...shown, remember: undefined });
    }
  }
  for (const wrong of [false, true]) {
    assertWellMade(enrolmentPage({ ...enrolment, wrong }));
    assertEscapes(enrolmentPage, { ...enrolment, shown: { method: "passkey", options }, wrong });
    assertWellMade(enrolmentPage({ ...enrolment, shown: { method: "passkey", options }, wrong, others: [] }));
  }
  const codes: RecoveryCodesView = {
    ...common,
    codes: ["aaaa-bbbb", "cccc-dddd"],
    continueUri: "/on",
    script: "/assets/copy.js",
  };
  assertWellMade(recoveryCodesPage(codes));
  assertEscapes(recoveryCodesPage, codes);
});

test("a URI other than otpauth is not rendered as a link", () => {
  const setup = { qr: { size: 29, path: "" }, key: "A", uri: "javascript:alert(1)" };
  assert.doesNotMatch(
    render(enrolmentPage({ ...enrolment, shown: { method: "totp", setup } })),
    /javascript/,
  );
});

test("fields have the names and autocomplete values that password managers and the server expect", () => {
  const page = render(twoFactorPage(view));
  assert.match(tag(page, "code"), /name="code" inputmode="numeric" autocomplete="one-time-code"/);
  assert.match(tag(page, "twofactor-submit"), /type="submit"/);
  for (const [name, value] of Object.entries({
    csrf: "the-csrf",
    flow: "the-flow",
    pending: "the-pending",
    method: "totp",
  }))
    assert.ok(page.includes(`<input type="hidden" name="${name}" value="${value}">`), name);
  assert.ok(page.indexOf('id="twofactor-submit"') < page.indexOf('name="show"'), "Enter sends the code");
  assert.match(
    render(twoFactorPage({ ...view, method: "recovery" })),
    /id="code" name="code" autocomplete="off"/,
  );
});

test("the page names the user and the application, and offers another account", () => {
  const page = render(twoFactorPage(view));
  assert.match(page, /<title>Confirm it’s you to continue to Payroll · Acme<\/title>/);
  assert.match(page, /<bdi>ada@acme\.example<\/bdi>/);
  assert.match(page, /<a href="\/oauth\/1\/authorize\?flow=f">Not you\? Use another account<\/a>/);
  assert.match(page, /to continue to Payroll/);
});

test("a wrong code is announced and linked to its field, and no input is repeated", () => {
  const page = render(twoFactorPage({ ...view, error: "wrong" }));
  assert.match(tag(page, "twofactor-notice"), /role="alert"/);
  assert.match(tag(page, "code"), /aria-invalid="true" aria-describedby="twofactor-notice"/);
  assert.doesNotMatch(tag(page, "code"), /value/);
  assert.match(
    render(twoFactorPage({ ...view, error: "rate-limited", retryAfterSeconds: 1_500 })),
    /Try again in 25 minutes/,
  );
  assert.match(render(twoFactorPage({ ...view, error: "rate-limited" })), /Try again in a few minutes/);
});

test("trusting the browser is offered only where it applies, and stays ticked", () => {
  assert.doesNotMatch(render(twoFactorPage({ ...view, remember: undefined })), /name="remember"/);
  assert.doesNotMatch(tag(render(twoFactorPage(view)), "remember"), /checked/);
  assert.match(tag(render(twoFactorPage({ ...view, remember: { checked: true } })), "remember"), / checked/);
});

test("the passkey button needs the script; the other methods work without it", () => {
  const page = render(twoFactorPage({ ...view, method: "passkey", options, others: ["totp"] }));
  assert.match(tag(page, "twofactor-submit"), /data-passkey-button hidden/);
  assert.match(page, /<noscript><p>Passkeys need JavaScript/);
  assert.match(tag(page, "choose-totp"), /name="show" value="totp" formnovalidate/);
});

test("enrolment names whose policy requires the factor", () => {
  assert.match(render(enrolmentPage(enrolment)), /Acme requires a second factor/);
  assert.match(
    render(enrolmentPage({ ...enrolment, askedBy: "application" })),
    /Payroll requires more than a password/,
  );
});
