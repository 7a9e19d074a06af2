import assert from "node:assert/strict";
import { test } from "node:test";
import { render } from "../html.ts";
import { logo, mark } from "./mark.ts";

test("shows a logo only from a data URI or this server", () => {
  assert.match(render(mark("Acme", "data:image/png;base64,AA==")), /^<img /);
  assert.match(render(mark("Acme", "/logos/acme.png")), /^<img /);
  for (const address of [
    "https://cdn.example/a.png",
    "//cdn.example/a.png",
    "data:text/html,x",
    "/\\b.example",
  ]) {
    assert.equal(logo(address), undefined, address);
    assert.equal(render(mark("Acme", address)), `<span class="mark" aria-hidden="true">A</span>`);
  }
});

test("shows the escaped first letter without a logo", () => {
  assert.match(render(mark(" élan")), />É</);
  assert.match(render(mark("👩‍🚀 Space")), />👩‍🚀</);
  assert.match(render(mark("<b>")), />&lt;</);
  assert.match(render(mark("")), /><\/span>$/);
});
