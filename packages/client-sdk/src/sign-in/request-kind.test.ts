import assert from "node:assert/strict";
import { test } from "node:test";
import { requestKind, requestSource } from "./request-kind.ts";

const request = (headers: Record<string, string>, method = "GET") =>
  new Request("https://app.example/page", { method, headers });
const kind = (headers: Record<string, string>, method?: string) => requestKind(request(headers, method));

test("Fetch Metadata decides where a browser sends it", () => {
  const page = { "sec-fetch-mode": "navigate", "sec-fetch-dest": "document" };
  assert.equal(kind(page), "navigation");
  assert.equal(kind(page, "HEAD"), "navigation");
  assert.equal(kind(page, "POST"), "submission");
  assert.equal(kind({ ...page, "sec-fetch-dest": "iframe" }), "frame");
  assert.equal(kind({ "sec-fetch-mode": "cors", "sec-fetch-dest": "empty", accept: "text/html" }), "call");
  assert.equal(kind({ "sec-fetch-mode": "no-cors", "sec-fetch-dest": "image" }), "call");
});

test("without it, whoever asks for HTML is a browser", () => {
  const accept = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
  assert.equal(kind({ accept }), "navigation");
  assert.equal(kind({ accept }, "POST"), "submission");
  assert.equal(kind({ accept, "x-requested-with": "XMLHttpRequest" }), "call");
  assert.equal(kind({ accept: "application/json" }), "call");
  assert.equal(kind({ accept: "*/*" }), "call");
  assert.equal(kind({}), "call");
});

test("what a browser fetches ahead begins no sign-in", () => {
  const page = { "sec-fetch-mode": "navigate", "sec-fetch-dest": "document" };
  assert.equal(kind({ ...page, "sec-purpose": "prefetch;prerender" }), "prefetch");
  assert.equal(kind({ ...page, purpose: "prefetch" }), "prefetch");
});

test("a page of ours, the person, and every other site are told apart, sites beside ours too", () => {
  const sender = (headers: Record<string, string>) => requestSource(request(headers), "https://app.example");
  assert.equal(sender({ "sec-fetch-site": "same-origin" }), "own");
  assert.equal(sender({ "sec-fetch-site": "none" }), "person");
  assert.equal(sender({ "sec-fetch-site": "same-site", origin: "https://app.example" }), "elsewhere");
  assert.equal(sender({ "sec-fetch-site": "cross-site" }), "elsewhere");
  assert.equal(sender({ origin: "https://app.example" }), "own");
  assert.equal(sender({ origin: "https://app.example.evil.example" }), "elsewhere");
  assert.equal(sender({ origin: "null" }), "elsewhere");
  assert.equal(sender({}), "unknown");
});
