import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { type FrontPage, renderPage } from "./built-in-pages.ts";

const page: FrontPage = {
  kind: "failed",
  status: 502,
  title: "Sign-in <failed>",
  text: `Not "yours" & not <script>alert(1)</script>`,
  action: { label: "Try again", address: `https://app.example/x?a=1&b="><script>`, method: "get" },
};

test("a page has a language, a title, one heading and one action, and escapes every text", async () => {
  const answer = await renderPage(page);
  const text = await answer.text();
  assert.equal(answer.status, 502);
  assert.match(text, /<html lang="en">/);
  assert.match(text, /<title>Sign-in &#60;failed&#62;<\/title>/);
  assert.equal(text.match(/<h1>/g)?.length, 1);
  assert.equal(text.match(/id="signet-action"/g)?.length, 1);
  assert.doesNotMatch(text, /<script/i);
  assert.match(text, /href="https:\/\/app\.example\/x\?a=1&#38;b=&#34;&#62;&#60;script&#62;"/);
});

test("no scripts, no loaded resources, no framing by other sites, and the style is allowed by its hash", async () => {
  const answer = await renderPage(page);
  const policy = answer.headers.get("content-security-policy") ?? "";
  const style = /<style>(.*)<\/style>/.exec(await answer.text())?.[1] ?? "";
  const hash = createHash("sha256").update(style).digest("base64");
  assert.ok(policy.includes(`style-src 'sha256-${hash}'`), policy);
  assert.match(policy, /default-src 'none'.*form-action 'none'.*frame-ancestors 'self'.*base-uri 'none'/);
  assert.equal(answer.headers.get("cache-control"), "no-store");
  assert.equal(answer.headers.get("x-content-type-options"), "nosniff");
});

test("a confirmation page has a form, which may continue at the provider", async () => {
  const action = { label: "Sign out", address: "/signet/logout", method: "post" } as const;
  const answer = await renderPage({ ...page, kind: "confirm_logout", action });
  assert.match(
    await answer.text(),
    /<form method="post" action="\/signet\/logout" target="_top"><button id="signet-action">/,
  );
  assert.match(answer.headers.get("content-security-policy") ?? "", /form-action 'self' https:/);
});
