import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { refererPath, returnUrl } from "./return-url.ts";

const own = { origin: "https://app.example", basePath: "/signet" };

test("a path of the application keeps its query and fragment", () => {
  for (const path of [
    "/",
    "/orders/7?page=2#last",
    "/a//b",
    "/%2f%2fevil.example",
    "/signet-news",
    "/?u=//evil.example",
  ])
    assert.equal(returnUrl(own, path), `https://app.example${path}`);
});

test("anything a browser would read as another place leads to the home page", () => {
  const elsewhere = [
    "//evil.example",
    "///evil.example",
    "/\\evil.example",
    "\\\\evil.example",
    "/.//evil.example",
    "/..//evil.example",
    "/a/..//evil.example",
    "/%2e//evil.example",
    "/\t/evil.example",
    "/\n/evil.example",
    " //evil.example",
    "https://evil.example",
    "https:evil.example",
    "https://app.example.evil.example",
    "javascript:alert(1)",
    "data:text/html,x",
    "@evil.example",
    ".evil.example",
    ":443@evil.example",
    "orders",
    "",
    `/${"a".repeat(1_500)}`,
    // Nine characters each in the cookie that keeps it.
    `/${"€".repeat(200)}`,
    "/signet/logout",
    "/signet",
    "/x/../signet/logout",
    null,
    undefined,
  ];
  for (const wanted of elsewhere)
    assert.equal(returnUrl(own, wanted), "https://app.example/", String(wanted));
});

test("no text leads to another origin", () => {
  const parts = fc.constantFrom(
    "/",
    "\\",
    ".",
    "..",
    "evil.example",
    "@",
    ":",
    "\t",
    "%2f",
    "%5c",
    "?",
    "#",
    "https:",
  );
  fc.assert(
    fc.property(fc.array(fc.oneof(parts, fc.string({ maxLength: 4 })), { maxLength: 10 }), (pieces) => {
      const address = returnUrl(own, pieces.join(""));
      assert.equal(new URL(address).origin, own.origin);
      // Also where somebody strips the origin again before the address is used.
      assert.equal(
        new URL(address.slice(own.origin.length), "https://other.example").origin,
        "https://other.example",
      );
    }),
    { numRuns: 2_000 },
  );
});

test("the referring page is one of the application, or none", () => {
  const from = (referer: string) =>
    refererPath(own, new Request("https://app.example/save", { headers: { referer } }));
  assert.equal(from("https://app.example/form?id=1"), "/form?id=1");
  assert.equal(from("https://evil.example/form"), undefined);
  assert.equal(from("https://app.example//evil.example"), undefined);
  assert.equal(from("nonsense"), undefined);
  assert.equal(refererPath(own, new Request("https://app.example/save")), undefined);
});
