import assert from "node:assert/strict";
import { test } from "node:test";
import { render } from "../../html/html.ts";
import { assertEscapes, assertWellMade, testFrame } from "../../testing/probes/page-checks.ts";
import { type LandingView, landingPage } from "./landing.page.ts";

const demo: LandingView = {
  ...testFrame,
  demo: {
    organisations: [
      {
        name: "Demo",
        issuer: "http://a.example/oauth/1",
        discoveryUri: "http://a.example/oauth/1/d",
        consoleUri: "/oauth/manage/1",
      },
      {
        name: "Other",
        issuer: "http://a.example/oauth/2",
        discoveryUri: "http://a.example/oauth/2/d",
        consoleUri: "/oauth/manage/2",
      },
    ],
    tryUri: "/demo/try",
    credentialsFile: "data/demo.json",
  },
  documentation: [{ title: "Health", uri: "/healthz" }],
};

test("renders valid HTML and escapes every value", () => {
  assertWellMade(landingPage(demo));
  assertWellMade(landingPage(testFrame));
  assertEscapes(landingPage, demo);
});

test("in demo mode links the try-it flow, every discovery document and console, and the documentation", () => {
  const page = render(landingPage(demo));
  assert.match(page, /id="demo-try" href="\/demo\/try">Try it</);
  assert.match(page, /href="http:\/\/a\.example\/oauth\/1\/d" aria-label="Discovery document of Demo">/);
  assert.match(page, /href="http:\/\/a\.example\/oauth\/2\/d" aria-label="Discovery document of Other">/);
  assert.match(page, /href="\/oauth\/manage\/2" aria-label="Open the console: Other">/);
  assert.match(page, /<code>data\/demo\.json<\/code>/);
  assert.match(page, /<a href="\/healthz">Health<\/a>/);
});

test("outside demo mode lists no organisations and no sign-in link", () => {
  const page = render(landingPage(testFrame));
  assert.match(page, /<h1>Signet is running<\/h1>/);
  assert.doesNotMatch(page, /<a |Try it|Organisations|demo/);
});
