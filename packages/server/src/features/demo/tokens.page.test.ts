import assert from "node:assert/strict";
import { test } from "node:test";
import { render } from "../../html/html.ts";
import { copyScript } from "../../html/scripts.ts";
import { assertEscapes, assertWellMade, testFrame } from "../../testing/probes/page-checks.ts";
import { type DecodedToken, type TokensView, tokensPage } from "./tokens.page.ts";

const NOW = 1_780_000_000_000;

const idToken: DecodedToken = {
  encoded: "aaa.bbb.ccc",
  header: { alg: "ES256", kid: "the-key", typ: "JWT" },
  payload: {
    iss: "http://a.example/oauth/1",
    sub: "the-sub",
    exp: NOW / 1_000 + 3_600,
    nested: { deep: ["text"] },
  },
  verified: true,
};
const view: TokensView = {
  ...testFrame,
  organisation: { name: "Demo", accentColor: "#aa3300", logoUri: "/logo.png" },
  application: { name: "Demo web app" },
  idToken,
  accessToken: {
    ...idToken,
    encoded: "ddd.eee.fff",
    verified: false,
    payload: { exp: NOW / 1_000 - 1, scope: "openid" },
  },
  jwksUri: "http://a.example/oauth/1/jwks",
  now: NOW,
  tryAgainUri: "/demo/try",
  signOutUri: "/oauth/1/end_session",
  script: copyScript.path,
};

/** The section of one token. */
function part(page: string, id: string): string {
  return (
    page.split(`<section class="card token" aria-labelledby="${id}-title">`)[1]?.split("</section>")[0] ?? ""
  );
}

test("renders valid HTML and escapes every value in the tokens", () => {
  assertWellMade(tokensPage(view));
  assertEscapes(tokensPage, view);
});

test("escapes claim names", () => {
  const hostile = { ...idToken, payload: { "<script>alert(1)</script>": 1 } };
  assert.doesNotMatch(render(tokensPage({ ...view, idToken: hostile })), /<script>alert/);
});

test("shows header, payload and encoded form of each token", () => {
  const section = part(render(tokensPage(view)), "id-token").replace(/<\/?span[^>]*>/g, "");
  assert.match(section, /&quot;kid&quot;: &quot;the-key&quot;/);
  assert.match(section, /&quot;sub&quot;: &quot;the-sub&quot;/);
  assert.match(section, /<pre id="id-token-encoded">aaa\.bbb\.ccc<\/pre>/);
});

test("explains known claims and formats NumericDate claims", () => {
  const section = part(render(tokensPage(view)), "id-token").replace(/\s/g, " ");
  assert.match(section, /<dt><code>sub<\/code><\/dt> <dd>Subject: /);
  assert.match(section, /<dd>Expiry: [^<]*<br><span class="quiet">28 May 2026, 21:26:40 UTC</);
  assert.doesNotMatch(section, /<code>nested<\/code>/);
});

test("shows signature status and remaining lifetime", () => {
  const page = render(tokensPage(view));
  assert.match(part(page, "id-token"), /Signature verified \(ES256\)[\s\S]*Expires in 60 minutes/);
  assert.match(part(page, "access-token"), /class="bad">Signature not verified[\s\S]*>Expired</);
});

test("tolerates claims that are not valid dates", () => {
  for (const exp of [Number.MAX_VALUE, -1e300, "soon", null, {}]) {
    assertWellMade(
      tokensPage({ ...view, idToken: { ...idToken, payload: { exp, iat: 8.7e12, constructor: 1 } } }),
    );
  }
});

test("links a new run and sign-out", () => {
  const page = render(tokensPage(view));
  assert.match(page, /id="demo-again" href="\/demo\/try">Try again</);
  assert.match(page, /id="demo-sign-out" href="\/oauth\/1\/end_session">Sign out</);
});
