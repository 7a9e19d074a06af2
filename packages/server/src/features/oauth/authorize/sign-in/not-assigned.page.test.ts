import assert from "node:assert/strict";
import { test } from "node:test";
import { render } from "../../../../html/html.ts";
import { assertEscapes, assertWellMade, testFrame } from "../../../../html/page-checks.ts";
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

test("no value becomes markup, and the page is well made", () => {
  assertEscapes(notAssignedPage, view);
  assertWellMade(notAssignedPage(view));
  const { back: _, ...federated } = view;
  assertWellMade(notAssignedPage(federated));
});

test("it says whom the application names, and leads back to the application", () => {
  const page = render(notAssignedPage(view));
  assert.match(page, /To be assigned, ask:/);
  assert.match(page, /<li>pay@acme\.example<\/li>\s*<li>Bo, room 7<\/li>/);
  assert.match(page, /id="not-assigned-back" type="submit" name="decision" value="deny">Go back to Payroll</);
});

test("without contacts an administrator is asked, and without an answer the way back is the home", () => {
  const { back: _, ...federated } = view;
  const page = render(notAssignedPage({ ...federated, contacts: [] }));
  assert.match(page, /Ask an administrator of Acme to assign you\./);
  assert.match(page, /<a class="button" href="https:\/\/payroll\.example\/">Go back to Payroll<\/a>/);
  assert.doesNotMatch(page, /<form/);
});
