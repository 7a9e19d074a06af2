import assert from "node:assert/strict";
import { test } from "node:test";
import { type Content, html, linkAddress, raw, render } from "./html.ts";

test("escapes text between tags and in quoted attributes", () => {
  const hostile = `</script><b a="1" b='2'>&`;
  const escaped = "&lt;/script&gt;&lt;b a=&quot;1&quot; b=&#39;2&#39;&gt;&amp;";
  assert.equal(render(html`<p>${hostile}</p>`), `<p>${escaped}</p>`);
  assert.equal(render(html`<p title="${hostile}"></p>`), `<p title="${escaped}"></p>`);
});

test("keeps nested markup and escapes text in lists", () => {
  const items = ["a", "<b>"].map((item) => html`<li>${item}</li>`);
  assert.equal(render(html`<ul>${items}</ul>`), "<ul><li>a</li><li>&lt;b&gt;</li></ul>");
  assert.equal(render(html`${["<", [">"]]}`), "&lt;&gt;");
});

test("renders undefined, null and false as nothing, and zero as itself", () => {
  assert.equal(render(html`[${undefined}${null}${false}${0}${""}]`), "[0]");
});

test("refuses an unquoted attribute value", () => {
  assert.throws(() => html`<p class=${"a b"}></p>`, TypeError);
});

test("escapes a parsed JSON object that poses as markup", () => {
  const posing = JSON.parse(`{"html":"<script>","Symbol(html)":"<script>","length":0}`) as Content;
  assert.throws(() => html`${posing}`, TypeError);
});

test("raw keeps constants unescaped", () => {
  assert.equal(render(html`${raw("<br>")}`), "<br>");
});

test("links only to http, https or a path of this server", () => {
  for (const address of ["https://a.example/x?y#z", "http://127.0.0.1:8080/", "/demo/try?a=b"]) {
    assert.equal(linkAddress(address), address);
  }
  const refused = [
    "javascript:alert(1)",
    " javascript:alert(1)",
    "java\nscript:x",
    "data:text/html,x",
    "//b.example",
    "/\t/b.example",
    "/\n\\b.example",
  ];
  for (const address of [...refused, "/\\b.example", "relative", "", "mailto:a@b.example", undefined]) {
    assert.equal(linkAddress(address), undefined, String(address));
  }
});
