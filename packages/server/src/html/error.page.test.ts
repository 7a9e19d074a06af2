import assert from "node:assert/strict";
import { test } from "node:test";
import { assertEscapes, assertWellMade, testFrame } from "../testing/probes/page-checks.ts";
import { type ErrorView, errorPage } from "./error.page.ts";
import { render } from "./html.ts";
import { messages } from "./messages/messages.ts";

const view: ErrorView = {
  ...testFrame,
  status: 400,
  requestId: "req-1",
  code: "invalid_request_object",
  title: "No way on",
  message: "The redirect address is not registered.",
  organisation: { name: "Acme", accentColor: "#aa3300", logoUri: "/logo.png" },
  application: { name: "Payroll", homepageUri: "https://payroll.example/", logoUri: "/payroll.png" },
};

test("the error page is well-formed and escapes everything", () => {
  assertWellMade(errorPage(view));
  assertEscapes(errorPage, view);
});

test("the error page shows the description, the reference, the code and a way back", () => {
  const page = render(errorPage(view));
  assert.match(page, /<h1>No way on<\/h1>\n<p lang="en">The redirect address is not registered\.<\/p>/);
  assert.match(page, /<code>req-1<\/code>.*<code>invalid_request_object<\/code>/);
  assert.match(
    page,
    /<a class="button primary" id="to-application" href="https:\/\/payroll\.example\/">Go to Payroll<\/a>/,
  );
});

test("where neither an application nor an organisation is known, the button leads to the start page", () => {
  const page = render(errorPage({ ...testFrame, status: 404, requestId: "r" }));
  assert.match(page, /<a class="button primary" id="to-start" href="\/">Go to the start page<\/a>/);
  assert.doesNotMatch(render(errorPage(view)), /to-start/);
});

test("every status has its own title and advice", () => {
  const heading = (status: number): string | undefined =>
    /<h1>(.*?)<\/h1>/.exec(render(errorPage({ ...testFrame, status, requestId: "r" })))?.[1];
  assert.equal(heading(400), "This request can’t be completed");
  assert.equal(heading(413), heading(400));
  assert.equal(heading(403), "You don’t have access to this page");
  assert.equal(heading(404), "Page not found");
  assert.equal(heading(429), "Too many requests");
  assert.equal(heading(500), "Something went wrong");
  assert.equal(heading(503), "Signet is temporarily unavailable");
  assertWellMade(errorPage({ ...testFrame, status: 500, requestId: "r" }));
});

test("describes an error in the reader's language where there is a text", () => {
  const german = { ...testFrame, messages: messages(["de"]) };
  const page = render(errorPage({ ...view, ...german, reason: "client-unknown" }));
  assert.ok(page.includes(`<p>${german.messages.error.reasons["client-unknown"]}</p>`));
  assert.doesNotMatch(page, /lang="en"/);
  const unknown = render(errorPage({ ...view, ...german, reason: "toString" }));
  assert.match(unknown, /<p lang="en">The redirect address is not registered\.<\/p>/);
});
