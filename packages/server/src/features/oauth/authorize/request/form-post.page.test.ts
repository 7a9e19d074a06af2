import assert from "node:assert/strict";
import { test } from "node:test";
import { runInNewContext } from "node:vm";
import { render } from "../../../../html/html.ts";
import { formPostScript } from "../../../../html/scripts.ts";
import { assertEscapes, assertWellMade, testFrame } from "../../../../testing/probes/page-checks.ts";
import { type FormPostView, formPostPage } from "./form-post.page.ts";

const view: FormPostView = {
  ...testFrame,
  organisation: { name: "Acme", accentColor: "#aa3300", logoUri: "/logo.png" },
  application: { name: "Payroll", homepageUri: "https://payroll.example/", logoUri: "/payroll.png" },
  redirectUri: "https://app.payroll.example/callback",
  fields: [
    { name: "code", value: "the-code" },
    { name: "state", value: `a"b<c>&'` },
  ],
  script: formPostScript.path,
};

test("the form_post response is valid HTML and escapes all values", () => {
  assertWellMade(formPostPage(view));
  assertEscapes(formPostPage, view);
});

test("the response is a form POST to the redirect URI without a query", () => {
  const page = render(formPostPage(view));
  assert.match(
    page,
    /<form id="form-post" method="post" action="https:\/\/app\.payroll\.example\/callback">/,
  );
  assert.match(page, /<input type="hidden" name="code" value="the-code">/);
  assert.match(page, /<input type="hidden" name="state" value="a&quot;b&lt;c&gt;&amp;&#39;">/);
});

test("a script submits the form, and a button does without scripts", () => {
  const page = render(formPostPage(view));
  assert.ok(page.includes(`<script src="${formPostScript.path}" defer></script>`));
  assert.match(
    page,
    /<noscript>[\s\S]*id="form-post-submit" type="submit">Continue to Payroll<[\s\S]*<\/noscript>/,
  );
});

test("the script submits the form even if a field is named submit", () => {
  const sent: unknown[] = [];
  class HTMLFormElement {
    submit(): void {
      sent.push(this);
    }
  }
  const form = Object.assign(new HTMLFormElement(), { submit: "a field" });
  const document = { getElementById: (id: string) => (id === "form-post" ? form : null) };
  runInNewContext(formPostScript.bytes.toString(), { document, HTMLFormElement });
  assert.deepEqual(sent, [form]);
});

test("a redirect URI that runs in the page is rejected", () => {
  for (const redirectUri of [
    "javascript:alert(1)",
    "JAVASCRIPT:x",
    "data:text/html,x",
    "blob:https://a/b",
    "nothing",
  ]) {
    assert.throws(() => formPostPage({ ...view, redirectUri }), TypeError, redirectUri);
  }
});
