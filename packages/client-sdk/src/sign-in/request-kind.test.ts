import assert from "node:assert/strict";
import { test } from "node:test";
import { requestKind, requestSource } from "./request-kind.ts";

const request = (headers: Record<string, string>, method = "GET") =>
  new Request("https://app.example/page", { method, headers });
const kind = (headers: Record<string, string>, method?: string) => requestKind(request(headers, method));

test("Fetch Metadata decides if a browser sends it", () => {
  const page = { "sec-fetch-mode": "navigate", "sec-fetch-dest": "document" };
  assert.equal(kind(page), "navigation");
  assert.equal(kind(page, "HEAD"), "navigation");
  assert.equal(kind(page, "POST"), "form");
  assert.equal(kind({ ...page, "sec-fetch-dest": "iframe" }), "frame");
  assert.equal(kind({ "sec-fetch-mode": "cors", "sec-fetch-dest": "empty", accept: "text/html" }), "fetch");
  assert.equal(kind({ "sec-fetch-mode": "no-cors", "sec-fetch-dest": "image" }), "fetch");
});

test("without it, a request for HTML is a navigation", () => {
  const accept = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
  assert.equal(kind({ accept }), "navigation");
  assert.equal(kind({ accept }, "POST"), "form");
  assert.equal(kind({ accept, "x-requested-with": "XMLHttpRequest" }), "fetch");
  assert.equal(kind({ accept: "application/json" }), "fetch");
  assert.equal(kind({ accept: "*/*" }), "fetch");
  assert.equal(kind({}), "fetch");
});

test("a prefetch doesn't start a sign-in", () => {
  const page = { "sec-fetch-mode": "navigate", "sec-fetch-dest": "document" };
  assert.equal(kind({ ...page, "sec-purpose": "prefetch;prerender" }), "prefetch");
  assert.equal(kind({ ...page, purpose: "prefetch" }), "prefetch");
});

test("the application's pages, the user, and other sites are distinguished, sibling domains too", () => {
  const source = (headers: Record<string, string>) => requestSource(request(headers), "https://app.example");
  assert.equal(source({ "sec-fetch-site": "same-origin" }), "same-origin");
  assert.equal(source({ "sec-fetch-site": "none" }), "user");
  assert.equal(source({ "sec-fetch-site": "same-site", origin: "https://app.example" }), "cross-site");
  assert.equal(source({ "sec-fetch-site": "cross-site" }), "cross-site");
  assert.equal(source({ origin: "https://app.example" }), "same-origin");
  assert.equal(source({ origin: "https://app.example.evil.example" }), "cross-site");
  assert.equal(source({ origin: "null" }), "cross-site");
  assert.equal(source({}), "unknown");
});
