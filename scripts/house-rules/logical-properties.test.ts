import assert from "node:assert/strict";
import { test } from "node:test";
import { logicalProperties } from "./logical-properties.ts";

const linesOf = (text: string, path = "a.css") => logicalProperties([{ path, text }]).map(({ line }) => line);

test("sides of the screen are found by line, in each form", () => {
  for (const declaration of [
    "margin-left: 1px",
    "padding-right: 1px",
    "border-left: 1px solid",
    "border-right-color: red",
    "border-top-left-radius: 1px",
    "left: 0",
    "right: auto",
    "text-align: left",
    "float: right",
    "scroll-margin-left: 1px",
    "padding: 1px 2px 3px 4px",
    "inset: 0 auto 0 0",
    "margin: 0 calc(1px + 2px) 0 var(--gutter)",
  ])
    assert.deepEqual(linesOf(`.a {\n  ${declaration};\n}`), [2], declaration);
});

test("start and end, even sides, comments and other files are left alone", () => {
  for (const declaration of [
    "margin-inline-start: 1px",
    "inset-inline: auto 0",
    "inset: 0 auto 0 auto",
    "padding: 1px max(1px, (100% - var(--a)) / 2)",
    "padding: 1px 2px 3px",
    "text-align: start",
    "/* left: 0 */ color: red",
    "--left: 1px",
  ])
    assert.deepEqual(linesOf(`.a {\n  ${declaration};\n}`), [], declaration);
  assert.deepEqual(linesOf("const a = { left: 0 };", "a.ts"), []);
});
