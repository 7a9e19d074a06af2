import assert from "node:assert/strict";
import { test } from "node:test";
import { render } from "../../../../html/html.ts";
import { assertEscapes, assertWellMade, testFrame } from "../../../../testing/probes/page-checks.ts";
import { type LoginFailure, type LoginView, loginPage } from "./login.page.ts";

const view: LoginView = {
  ...testFrame,
  organisation: { name: "Acme", accentColor: "#aa3300", logoUri: "/logo.png" },
  application: { name: "Payroll", homepageUri: "https://payroll.example/start", logoUri: "/payroll.png" },
  action: "/oauth/1/login",
  csrf: "the-csrf",
  flow: "the-flow",
  email: "ada@acme.example",
  passkey: '{"challenge":"AAAA","rpId":"localhost"}',
  script: "/assets/passkey.js",
  methods: ["password", "passkey"],
};
const failures: readonly LoginFailure[] = [
  "invalid-credentials",
  "rate-limited",
  "busy",
  "disabled",
  "session-expired",
];

/** The one tag of the page with this id. */
function tag(page: string, id: string): string {
  return new RegExp(`<[a-z]+ [^>]*id="${id}"[^>]*>`).exec(page)?.[0] ?? "";
}

test("the sign-in page is valid HTML and escapes all values, in every state", () => {
  for (const error of [undefined, ...failures]) {
    assertWellMade(loginPage({ ...view, error, retryAfterSeconds: 60 }));
    assertEscapes(loginPage, { ...view, error });
    assertWellMade(loginPage({ ...view, error, isReauthentication: true }));
  }
});

test("fields have the names and autocomplete values that password managers and the server expect", () => {
  const page = render(loginPage(view));
  assert.match(
    tag(page, "email"),
    /name="email" type="email" value="ada@acme\.example" autocomplete="username webauthn"/,
  );
  assert.match(tag(page, "password"), /name="password" type="password" autocomplete="current-password"/);
  assert.match(tag(page, "login-submit"), /type="submit"/);
  assert.match(page, /<form method="post" action="\/oauth\/1\/login">/);
  assert.match(page, /<input type="hidden" name="csrf" value="the-csrf">/);
  assert.match(page, /<input type="hidden" name="flow" value="the-flow">/);
});

test("the page names the organisation and the application with its host", () => {
  const page = render(loginPage(view));
  assert.match(page, /<title>Sign in to Payroll · Acme<\/title>/);
  assert.match(page, /<h1>Sign in to Payroll<\/h1>/);
  assert.match(page, /<bdi class="brand-name">Acme<\/bdi>/);
  assert.match(page, /<a href="https:\/\/payroll\.example\/start">payroll\.example<\/a>/);
  assert.match(page, /id="login-submit"[^>]*>Continue to Payroll</);
});

test("the password is never repeated", () => {
  for (const error of failures) {
    assert.doesNotMatch(tag(render(loginPage({ ...view, error })), "password"), /value/);
  }
});

test("wrong credentials are announced and linked to both fields, and the email is kept", () => {
  const page = render(loginPage({ ...view, error: "invalid-credentials" }));
  assert.match(tag(page, "login-notice"), /role="alert"/);
  for (const id of ["email", "password"]) {
    assert.match(tag(page, id), /aria-invalid="true" aria-describedby="login-notice"/);
  }
  assert.match(tag(page, "email"), /value="ada@acme\.example"/);
});

test("other failures don't mark the fields as invalid", () => {
  for (const error of failures.slice(1)) {
    const page = render(loginPage({ ...view, error }));
    assert.doesNotMatch(page, /aria-invalid/);
    assert.match(tag(page, "password"), /aria-describedby="login-notice"/);
    assert.match(tag(page, "login-notice"), error === "session-expired" ? /role="status"/ : /role="alert"/);
  }
});

test("the wait time is shown in words", () => {
  assert.match(
    render(loginPage({ ...view, error: "rate-limited", retryAfterSeconds: 700 })),
    /Try again in 12 minutes/,
  );
  assert.match(render(loginPage({ ...view, error: "rate-limited" })), /Try again in a few minutes/);
  assert.match(render(loginPage({ ...view, error: "busy", retryAfterSeconds: 2 })), /Try again in 2 seconds/);
  assert.match(render(loginPage({ ...view, error: "busy" })), /Try again in a moment/);
});

test("the first empty field has the focus", () => {
  assert.match(tag(render(loginPage(view)), "password"), / autofocus/);
  const fresh = render(loginPage({ ...view, email: undefined }));
  assert.match(tag(fresh, "email"), / autofocus/);
  assert.doesNotMatch(tag(fresh, "password"), / autofocus/);
});

test("an application without a home page has no link", () => {
  assert.doesNotMatch(render(loginPage({ ...view, application: { name: "Payroll" } })), /<a /);
});

const emailFirst: LoginView = {
  ...view,
  methods: ["emailCode", "password", "magicLink", "passkey"],
  mailAction: "/oauth/1/email-code",
  otherAddressUri: "/oauth/1/authorize?flow=the-flow",
};

test("both pages of an email-first sign-in are valid HTML and escape all values, in every state", () => {
  for (const stage of ["email", "methods"] as const)
    for (const error of [undefined, ...failures, "invalid-email" as const]) {
      assertWellMade(loginPage({ ...emailFirst, stage, error, retryAfterSeconds: 60 }));
      assertEscapes(loginPage, { ...emailFirst, stage, error });
    }
});

test("the first page has no password; the second has the address for password managers, and the first way is its main button", () => {
  const first = render(loginPage({ ...emailFirst, stage: "email" }));
  assert.doesNotMatch(first, /type="password"/);
  assert.match(tag(first, "login-submit"), /button primary/);
  const second = render(loginPage({ ...emailFirst, stage: "methods" }));
  assert.match(tag(second, "email"), /autocomplete="username" readonly hidden/);
  assert.match(tag(second, "email-code-send"), /button primary/);
  assert.doesNotMatch(tag(second, "login-submit"), /primary/);
  assert.match(tag(second, "other-address"), /href="\/oauth\/1\/authorize\?flow=the-flow"/);
});
