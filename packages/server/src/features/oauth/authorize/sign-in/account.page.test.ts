import assert from "node:assert/strict";
import { test } from "node:test";
import { render } from "../../../../html/html.ts";
import { assertEscapes, assertWellMade, testFrame } from "../../../../testing/probes/page-checks.ts";
import { type AccountView, accountPage } from "./account.page.ts";

const view: AccountView = {
  ...testFrame,
  organisation: { name: "Acme", accentColor: "#aa3300", logoUri: "/logo.png" },
  application: { name: "Payroll", homepageUri: "https://payroll.example/", logoUri: "/payroll.png" },
  action: "/oauth/1/account",
  csrf: "the-csrf",
  flow: "the-flow",
  user: { email: "ada@acme.example", name: "Ada Lovelace" },
};

test("the account page is valid HTML and escapes all values", () => {
  assertWellMade(accountPage(view));
  assertEscapes(accountPage, view);
});

test("the current and another account are two buttons of one form", () => {
  const page = render(accountPage(view));
  assert.match(page, /<form method="post" action="\/oauth\/1\/account">/);
  assert.match(page, /name="csrf" value="the-csrf">\n<input type="hidden" name="flow" value="the-flow">/);
  assert.match(page, /id="account-continue" type="submit" name="account" value="current"/);
  assert.match(page, /Continue as Ada Lovelace/);
  assert.match(page, /ada@acme\.example/);
  assert.match(page, /id="account-other" type="submit" name="account" value="other">Use another account</);
});

test("a user without a name is shown by email, once", () => {
  const page = render(accountPage({ ...view, user: { email: "ada@acme.example" } }));
  assert.match(page, /Continue as ada@acme\.example/);
  assert.equal(page.match(/ada@acme\.example/g)?.length, 1);
});
