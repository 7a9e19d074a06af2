import assert from "node:assert/strict";
import { test } from "node:test";
import { testFrame } from "../../testing/probes/page-checks.ts";
import { render } from "../html.ts";
import { pagination } from "./pagination.ts";

const { messages } = testFrame;
const sizes = {
  current: 25,
  uris: [
    [25, "?size=25"],
    [50, "?size=50"],
  ],
} as const;

const shown = (range: Parameters<typeof pagination>[0]["range"], olderUri?: string): string | undefined => {
  const nav = pagination({ range, sizes, olderUri, messages });
  return nav && render(nav);
};

test("page sizes are offered only where the smallest page does not hold the whole list", () => {
  assert.doesNotMatch(shown({ from: 1, to: 25, total: 25 }) ?? "", /page-sizes/);
  assert.match(shown({ from: 1, to: 25, total: 26 }, "?after=x") ?? "", /id="page-sizes"/);
  assert.match(shown({ from: 1, to: 25 }, "?after=x") ?? "", /id="page-sizes"/);
});

test("a list without rows has no range; the last page of one that became shorter keeps its way back", () => {
  assert.equal(shown({ from: 1, to: 0, total: 0 }), undefined);
  assert.match(shown({ from: 1, to: 5, total: 5 }) ?? "", /1–5 of 5/);
  assert.match(shown({ from: 26, to: 25, total: 25 }, "?before=x") ?? "", /id="page-older"/);
});
