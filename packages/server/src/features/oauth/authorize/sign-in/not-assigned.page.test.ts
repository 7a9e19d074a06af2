import assert from "node:assert/strict";
import { test } from "node:test";
import { render } from "../../../../html/html.ts";
import { assertEscapes, assertWellMade, testFrame } from "../../../../testing/probes/page-checks.ts";
import { type NotAssignedView, notAssignedPage } from "./not-assigned.page.ts";

const back = { action: "/oauth/1/authorize", csrf: "the-csrf", flow: "the-flow" };
const view: NotAssignedView = {
  ...testFrame,
  organisation: { name: "Acme", accentColor: "#aa3300", logoUri: "/logo.png" },
  application: { name: "Payroll", homepageUri: "https://payroll.example/", logoUri: "/payroll.png" },
  user: { email: "ada@acme.example" },
  contacts: ["pay@acme.example", "Bo, room 7"],
  otherAccountUri: "/oauth/1/authorize?flow=x",
  back,
};

test("the page is valid HTML and escapes all values", () => {
  assertEscapes(notAssignedPage, view);
  assertWellMade(notAssignedPage(view));
  const { back: _, ...federated } = view;
  assertWellMade(notAssignedPage(federated));
});

test("the page shows the application's contacts and leads back to the application", () => {
  const page = render(notAssignedPage(view));
  assert.match(page, /To request access, contact:/);
  assert.match(page, /<li>pay@acme\.example<\/li>\s*<li>Bo, room 7<\/li>/);
  assert.match(page, /id="not-assigned-back" type="submit" name="decision" value="deny">Go back to Payroll</);
});

test("without contacts the page names an administrator, and without a client it links to the home page", () => {
  const { back: _, ...federated } = view;
  const page = render(notAssignedPage({ ...federated, contacts: [] }));
  assert.match(page, /Ask an administrator of Acme for access\./);
  assert.match(page, /<a class="button" href="https:\/\/payroll\.example\/">Go back to Payroll<\/a>/);
  assert.doesNotMatch(page, /<form/);
});
