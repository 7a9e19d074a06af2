import assert from "node:assert/strict";
import { test } from "node:test";
import { render } from "../../../../html/html.ts";
import { assertEscapes, assertWellMade, testFrame } from "../../../../testing/probes/page-checks.ts";
import { administratorConsentPage, type ConsentView, consentPage } from "./consent.page.ts";

const view: ConsentView = {
  ...testFrame,
  organisation: { name: "Acme", accentColor: "#aa3300", logoUri: "/logo.png" },
  application: { name: "Payroll", homepageUri: "https://payroll.example/", logoUri: "/payroll.png" },
  action: "/oauth/1/authorize",
  csrf: "the-csrf",
  flow: "the-flow",
  user: { email: "ada@acme.example" },
  scopes: [
    { name: "openid" },
    { name: "profile" },
    { name: "email" },
    { name: "phone" },
    { name: "offline_access" },
    { name: "payroll:write", description: "Change salaries", sensitive: true },
    { name: "ledger" },
  ],
  details: [
    {
      type: "payment",
      displayName: "Payments",
      parts: [
        { kind: "text", text: "Pay " },
        { kind: "value", text: "12.50 EUR" },
      ],
    },
  ],
  redirectHost: "app.payroll.example",
  asked: "what-is-asked",
  otherAccountUri: "/oauth/1/authorize?prompt=login",
};

const adminView: ConsentView = {
  ...view,
  scopes: [{ name: "pay", displayName: "Pay", description: "See your pay", sensitive: true }],
};

test("the consent page is valid HTML and escapes all values", () => {
  assertWellMade(consentPage(view));
  assertEscapes(consentPage, view);
});

test("both decisions are buttons of one form with the CSRF token and the flow", () => {
  const page = render(consentPage(view));
  assert.match(page, /id="consent-allow" type="submit" name="decision" value="allow">Allow</);
  assert.match(page, /id="consent-deny" type="submit" name="decision" value="deny">Deny</);
  assert.match(page, /<form method="post" action="\/oauth\/1\/authorize">/);
  assert.match(page, /name="csrf" value="the-csrf">\n<input type="hidden" name="flow" value="the-flow">/);
});

test("the page names application, home page, user, other account and redirect host", () => {
  const page = render(consentPage(view));
  assert.match(page, /<h1>Allow Payroll to access your account\?<\/h1>/);
  assert.match(page, /<a href="https:\/\/payroll\.example\/">payroll\.example<\/a>/);
  assert.match(page, /<bdi>ada@acme\.example<\/bdi>/);
  assert.match(
    page,
    /<a class="alone" href="\/oauth\/1\/authorize\?prompt=login">Not you\? Use another account<\/a>/,
  );
  assert.match(page, /You’ll be redirected to <bdi class="host">app\.payroll\.example<\/bdi>/);
});

test("every scope is described; a sensitive one comes first and is marked in words", () => {
  const page = render(consentPage(view));
  const items = [...page.matchAll(/<li data-scope="([^"]*)"[^>]*>(.*?)<\/li>/g)].map((match) => match[2]);
  assert.equal(items.length, view.scopes.length);
  assert.equal(new Set(items).size, items.length);
  assert.equal(items[0], `<bdi>Change salaries</bdi> <span class="state warn">Sensitive</span>`);
  assert.match(items[3] ?? "", /See your email address/);
  assert.equal(items[6], "<bdi>Use “ledger” on your behalf</bdi>");
});

test("a scope named like an Object member is an ordinary custom scope", () => {
  const page = render(consentPage({ ...view, scopes: [{ name: "constructor" }, { name: "__proto__" }] }));
  assert.match(page, /Use “constructor” on your behalf/);
  assert.match(page, /Use “__proto__” on your behalf/);
});

test("the admin consent page is valid HTML and escapes all values", () => {
  assertEscapes(administratorConsentPage, adminView);
  assertWellMade(administratorConsentPage(adminView));
});

test("the admin consent page names whom to ask and leads back, with no way to allow", () => {
  const page = render(administratorConsentPage(adminView));
  assert.match(page, /Ask an administrator of Acme to allow Payroll:/);
  assert.match(page, /<span class="quiet item-note scope-note"><bdi>See your pay<\/bdi><\/span>/);
  assert.match(page, /id="consent-deny" type="submit" name="decision" value="deny">Go back to Payroll</);
  assert.doesNotMatch(page, /consent-allow/);
});
