import assert from "node:assert/strict";
import { test } from "node:test";
import { assertEscapes } from "../../../testing/probes/page-checks.ts";
import { render } from "../../html.ts";
import { messages } from "../../messages/messages.ts";
import { type ChartView, chart } from "./chart.ts";

const view: ChartView = {
  id: "sign-ins",
  title: "Sign-ins, 2 hours",
  description: "Since midnight",
  form: "bars",
  series: [
    { label: "Succeeded", tone: "plain", counts: [1_234, 0] },
    { label: "Failed", tone: "bad", counts: [1, 0] },
  ],
  points: ["00:00", "01:00"],
  ticks: ["00:00"],
  messages: messages(["en"]),
};

test("a chart has a name, a description and its numbers as a table", () => {
  const page = render(chart(view));
  assert.match(
    page,
    /<svg [^>]*role="img" aria-labelledby="sign-ins-name" aria-describedby="sign-ins-about"/,
  );
  assert.match(page, /<title id="sign-ins-name">Sign-ins, 2 hours<\/title>/);
  const [, table = ""] = /<details[\s\S]*?(<table[\s\S]*<\/table>)/.exec(page) ?? [];
  const cells = [...table.matchAll(/<t[hd] role="(?:rowheader|cell)"[^>]*>(?:<div>)?([^<]*)/g)].map(
    ([, text]) => text,
  );
  assert.deepEqual(cells, ["00:00", "1,234", "1", "01:00", "0", "0"]);
});

test("a chart needs no inline style or script, and draws nothing without data", () => {
  const page = render(chart(view));
  assert.doesNotMatch(page, /style=|<script|<style| on\w+=/);
  assert.equal(page.match(/class="chart-plain"/g)?.length, 1);
  assert.doesNotMatch(render(chart({ ...view, points: [], series: [] })), /NaN|Infinity|undefined/);
});

test("draws one series of levels as a stepped line", () => {
  const [first] = view.series;
  assert.ok(first);
  assert.match(
    render(chart({ ...view, form: "steps", series: [first] })),
    /<path class="chart-line chart-plain" d="M0 /,
  );
});

test("escapes every text of a chart", () => {
  assertEscapes(chart, view);
});
