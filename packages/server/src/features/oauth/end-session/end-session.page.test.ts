import assert from "node:assert/strict";
import { test } from "node:test";
import { render } from "../../../html/html.ts";
import { assertEscapes, assertWellMade, testFrame } from "../../../html/page-checks.ts";
import {
  type EndSessionView,
  endSessionPage,
  type SignedOutView,
  signedOutPage,
} from "./end-session.page.ts";

const organisation = { name: "Acme", accentColor: "#aa3300", logoUri: "/logo.png" };
const application = { name: "Payroll", homepageUri: "https://payroll.example/", logoUri: "/payroll.png" };
const asked: EndSessionView = {
  ...testFrame,
  organisation,
  application,
  user: { email: "ada@acme.example" },
  action: "/oauth/1/end_session",
  csrf: "the-csrf",
  fields: [{ name: "state", value: "the-state" }],
  stayUri: "https://payroll.example/",
};
const done: SignedOutView = { ...testFrame, organisation, application };

test("the sign-out pages are well made and escape everything", () => {
  assertWellMade(endSessionPage(asked));
  assertEscapes(endSessionPage, asked);
  assertWellMade(signedOutPage(done));
  assertEscapes(signedOutPage, done);
});

test("the confirmation says who is signed out of what, and carries the request along", () => {
  const page = render(endSessionPage(asked));
  assert.match(page, /<h1>Sign out of Acme\?<\/h1>/);
  assert.match(page, /<bdi>ada@acme\.example<\/bdi>/);
  assert.match(page, /Payroll asked for this\./);
  assert.match(page, /<form method="post" action="\/oauth\/1\/end_session">/);
  assert.match(page, /name="csrf" value="the-csrf">\n<input type="hidden" name="state" value="the-state">/);
  assert.match(page, /id="logout-confirm" type="submit">Sign out</);
  assert.match(page, /<a class="button" href="https:\/\/payroll\.example\/">Stay signed in<\/a>/);
});

test("without a way to stay there is no dead link", () => {
  const { application: _, stayUri: __, fields: ___, ...bare } = asked;
  assert.doesNotMatch(render(endSessionPage(bare)), /Stay signed in|asked for this/);
});

test("the end says so and leads back to the application when it has a home", () => {
  const page = render(signedOutPage(done));
  assert.match(page, /<h1>You are signed out<\/h1>/);
  assert.match(page, /<a class="button" href="https:\/\/payroll\.example\/">Go to Payroll<\/a>/);
  assert.doesNotMatch(render(signedOutPage({ ...testFrame, organisation })), /<a /);
});
