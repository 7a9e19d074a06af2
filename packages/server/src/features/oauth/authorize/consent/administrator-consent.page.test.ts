import assert from "node:assert/strict";
import { test } from "node:test";
import { render } from "../../../../html/html.ts";
import { assertEscapes, assertWellMade, testFrame } from "../../../../html/page-checks.ts";
import { administratorConsentPage } from "./administrator-consent.page.ts";

const view: Parameters<typeof administratorConsentPage>[0] = {
  ...testFrame,
  organisation: { name: "Acme", accentColor: "#aa3300", logoUri: "/logo.png" },
  application: { name: "Payroll", homepageUri: "https://payroll.example/", logoUri: "/payroll.png" },
  action: "/oauth/1/authorize",
  csrf: "the-csrf",
  flow: "the-flow",
  user: { email: "ada@acme.example" },
  scopes: [{ name: "pay", displayName: "Pay", description: "See your pay", sensitive: true }],
  otherAccountUri: "/oauth/1/authorize?prompt=login",
};

test("no value becomes markup, and the page is well made", () => {
  assertEscapes(administratorConsentPage, view);
  assertWellMade(administratorConsentPage(view));
});

test("it says whom to ask for what, and has the way back and no way on", () => {
  const page = render(administratorConsentPage(view));
  assert.match(page, /Ask an administrator of Acme to allow Payroll:/);
  assert.match(page, /<bdi class="quiet item-note scope-note">See your pay<\/bdi>/);
  assert.match(page, /id="consent-deny" type="submit" name="decision" value="deny">Go back to Payroll</);
  assert.doesNotMatch(page, /consent-allow/);
});
