import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { contrast } from "../accent.ts";
import { render } from "../html.ts";
import { consoleStylesheet } from "../stylesheet.ts";
import { avatar, hueOf, logo } from "./avatar.ts";

test("shows a logo only from a data URI or this server", () => {
  assert.match(render(avatar("Acme", "data:image/png;base64,AA==")), /^<img /);
  assert.match(render(avatar("Acme", "/logos/acme.png")), /^<img /);
  for (const address of [
    "https://cdn.example/a.png",
    "//cdn.example/a.png",
    "data:text/html,x",
    "/\\b.example",
  ]) {
    assert.equal(logo(address), undefined, address);
    assert.match(render(avatar("Acme", address)), /^<span class="mark hue-\d" aria-hidden="true">A<\/span>$/);
  }
});

test("shows the escaped initials of two words without a logo", () => {
  assert.match(render(avatar("Northwind Cooperative of Oslo")), />NC</);
  assert.match(render(avatar(" élan")), />É</);
  assert.match(render(avatar("👩‍🚀 Space")), />👩‍🚀S</);
  assert.match(render(avatar("ada@acme.example other")), />A</);
  assert.match(render(avatar("<b>")), />&lt;</);
  assert.match(render(avatar("")), /><\/span>$/);
});

test("a name keeps its hue, and names spread over all eight", () => {
  fc.assert(fc.property(fc.string(), (name) => hueOf(name) === hueOf(` ${name} `) && hueOf(name) < 8));
  const used = new Set(Array.from({ length: 100 }, (_, index) => hueOf(`Organisation ${index}`)));
  assert.equal(used.size, 8);
});

test("initials reach a contrast of 4.5 in light and in dark", () => {
  const hues = [
    ...consoleStylesheet.bytes.toString().matchAll(/\.hue-\d \{\s*--tint: (#\w{6});\s*--tone: (#\w{6});/g),
  ];
  assert.equal(hues.length, 16);
  for (const [rule, tint = "", tone = ""] of hues) assert.ok(contrast(tint, tone) >= 4.5, rule);
});
