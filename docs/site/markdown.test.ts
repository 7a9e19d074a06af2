import assert from "node:assert/strict";
import { test } from "node:test";
import { anchorOf, anchorsOf, asSitePage, titleOf } from "./markdown.ts";

const places: Readonly<Record<string, string>> = {
  "docs/install.md": "/install",
  "docs/sdk/README.md": "/sdk/",
};
const page = (text: string) =>
  asSitePage(text, {
    file: "docs/sdk/nextjs.md",
    addressOf: (file) => places[file],
    titleOf: (file) => ({ "docs/install.md": "Installing" })[file],
    anchorsOf: (file) => (file === "docs/sdk/nextjs.md" ? new Set(["auth", "auth-1", "x"]) : undefined),
  });

test("links to pages lead to the pages, with their anchors; a file's name becomes the page's title", () => {
  assert.equal(page("[here](../install.md#a-b)"), "[here](/install#a-b)");
  assert.equal(page("[install.md](../install.md)"), "[Installing](/install)");
  assert.equal(page("[SDK](README.md), [folder](../sdk)"), "[SDK](/sdk/), [folder](/sdk/)");
});

test("links to what is no page are text, and those to elsewhere or to the same page stay", () => {
  assert.equal(page("[`app.ts`](../../packages/app.ts)"), "`app.ts`");
  assert.equal(page("[RFC](https://rfc.example/1) [below](#x)"), "[RFC](https://rfc.example/1) [below](#x)");
});

test("code stays as it is", () => {
  const code = "```ts\nconst [a](../install.md) = 1;\n```";
  assert.equal(page(`x\n${code}\ny`), `x\n${code}\ny`);
});

test("titles and anchors are GitHub's", () => {
  assert.equal(titleOf("text\n# `OAuth` and *more*\n"), "OAuth and more");
  assert.equal(anchorOf("In 5 minutes: it's `a_b`, é"), "in-5-minutes-its-a_b-é");
});

test("a number of the reference that leads nowhere is left out", () => {
  assert.deepEqual(
    [...anchorsOf('## Auth\n\n## auth()\n\n<a id="property-x"></a>')],
    ["auth", "auth-1", "property-x"],
  );
  assert.equal(page("[a](#auth-3) [b](#auth-1) [c](#auth)"), "[a](#auth) [b](#auth-1) [c](#auth)");
});
