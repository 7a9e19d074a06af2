import assert from "node:assert/strict";
import { test } from "node:test";
import { render } from "../../../html/html.ts";
import { assertEscapes, assertWellMade, testFrame } from "../../../testing/probes/page-checks.ts";
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
  isUnregistered: true,
  user: { email: "ada@acme.example" },
  action: "/oauth/1/end_session",
  csrf: "the-csrf",
  fields: [{ name: "state", value: "the-state" }],
  stayUri: "https://payroll.example/",
};
const done: SignedOutView = { ...testFrame, organisation, application, isUnregistered: true };

test("the sign-out pages are valid HTML and escape all values", () => {
  assertWellMade(endSessionPage(asked));
  assertEscapes(endSessionPage, asked);
  assertWellMade(signedOutPage(done));
  assertEscapes(signedOutPage, done);
});

test("the confirmation names user and organisation, and repeats the request's parameters", () => {
  const page = render(endSessionPage(asked));
  assert.match(page, /<h1>Sign out of Acme\?<\/h1>/);
  assert.match(page, /<bdi>ada@acme\.example<\/bdi>/);
  assert.match(page, /Payroll requested this\./);
  assert.match(page, /<form method="post" action="\/oauth\/1\/end_session">/);
  assert.match(page, /name="csrf" value="the-csrf">\n<input type="hidden" name="state" value="the-state">/);
  assert.match(page, /id="logout-confirm" type="submit">Sign out</);
  assert.match(page, /<a class="button" href="https:\/\/payroll\.example\/">Stay signed in<\/a>/);
});

test("both pages say that a hint is invalid", () => {
  const isHintInvalid = true;
  for (const page of [endSessionPage({ ...asked, isHintInvalid }), signedOutPage({ ...done, isHintInvalid })])
    assert.match(render(page), /id="hint-invalid"[\s\S]*id_token_hint/);
  for (const page of [endSessionPage(asked), signedOutPage(done)])
    assert.doesNotMatch(render(page), /hint-invalid/);
});

test("without a home page there is no link to stay signed in", () => {
  const { application: _, stayUri: __, fields: ___, ...bare } = asked;
  assert.doesNotMatch(render(endSessionPage(bare)), /Stay signed in|requested this/);
});

test("the last page links to the application's home page", () => {
  const page = render(signedOutPage(done));
  assert.match(page, /<h1>You’re signed out<\/h1>/);
  assert.match(
    page,
    /<a class="button primary" id="to-application" href="https:\/\/payroll\.example\/">Go to Payroll<\/a>/,
  );
  assert.doesNotMatch(render(signedOutPage({ ...testFrame, organisation })), /<a /);
});

test("an unregistered address is named as such, when the application is known", () => {
  for (const page of [endSessionPage(asked), signedOutPage(done)])
    assert.match(render(page), /id="address-unregistered".*\n.*not registered for Payroll/);
  const registered = { isUnregistered: false };
  for (const page of [
    endSessionPage({ ...asked, ...registered }),
    signedOutPage({ ...done, ...registered }),
    signedOutPage({ ...done, application: undefined }),
  ])
    assert.doesNotMatch(render(page), /registered/);
});
