import assert from "node:assert/strict";
import { test } from "node:test";
import { assertEscapes } from "../../../testing/probes/page-checks.ts";
import { html, render } from "../../html.ts";
import { messages } from "../../messages/messages.ts";
import { type ChartView, chart, trend } from "./chart.ts";
import { ranking } from "./ranking.ts";

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
  const cells = [...table.matchAll(/<(?:td|th scope="row")>([^<]*)/g)].map(([, text]) => text);
  assert.deepEqual(cells, ["00:00", "1,234", "1", "01:00", "0", "0"]);
});

test("a chart needs no inline style or script, and draws nothing without data", () => {
  const page = render(chart(view));
  assert.doesNotMatch(page, /style=|<script|<style| on\w+=/);
  assert.equal(page.match(/class="chart-plain"/g)?.length, 1);
  assert.doesNotMatch(render(chart({ ...view, points: [], series: [] })), /NaN|Infinity|undefined/);
});

test("says so when there is nothing to draw", () => {
  assert.doesNotMatch(render(chart(view)), /chart-nothing/);
  const none = view.series.map((one) => ({ ...one, counts: [0, 0] }));
  assert.match(render(chart({ ...view, series: none })), /class="chart-nothing">Nothing in this period\./);
});

test("a trend compares with the time before, in words, and says nothing without one", () => {
  const said = (now: number, before: number) => render(html`${trend(now, before, view.messages)}`);
  assert.match(said(150, 100), /↑<\/span> 50% more than in the previous period/);
  assert.match(said(97, 100), /↓<\/span> 3% less than/);
  assert.match(said(1_004, 1_000), /0\.4% more/);
  assert.match(said(7, 7), />Same as in the previous period</);
  assert.equal(said(7, 0), "");
});

test("a ranking lists names with links, their amounts and the rest", () => {
  const entries = [
    { label: "<Payroll>", value: 3_000, id: "busy", uri: "/payroll" },
    { label: "Gone", value: 1_500 },
  ];
  const shared = { entries, none: "Nothing", messages: view.messages };
  const page = render(ranking({ ...shared, rest: { label: "Others", value: 30 } }));
  assert.match(page, /<a id="busy" href="\/payroll"><bdi>&lt;Payroll&gt;<\/bdi><\/a>/);
  assert.deepEqual(
    [...page.matchAll(/ranking-value">([^<]*)/g)].map(([, value]) => value),
    [...["3,000", "1,500", "30"]],
  );
  assert.deepEqual(
    [...page.matchAll(/<rect width="([^"]*)"/g)].map(([, width]) => width),
    [...["100%", "50%", "1%"]],
  );
  assert.doesNotMatch(render(ranking({ ...shared, rest: { label: "Others", value: 0 } })), /Others/);
  const none = render(ranking({ ...shared, entries: [], rest: { label: "Others", value: 0 } }));
  assert.match(none, /Nothing/);
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
