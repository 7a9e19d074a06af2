import assert from "node:assert/strict";
import { test } from "node:test";
import type { FastifyRequest } from "fastify";
import { keyRing } from "../core/encryption/key-ring.ts";
import { macs } from "../core/encryption/macs.ts";
import { csrf } from "./csrf.ts";

const ORG = "0190a1b2-0000-7000-8000-000000000001";
const OTHER_ORG = "0190a1b2-0000-7000-8000-000000000002";
const BROWSER = `sgn_bs_${"A".repeat(43)}`;
const OTHER_BROWSER = `sgn_bs_${"B".repeat(43)}`;

const ours = csrf(macs(keyRing(Buffer.alloc(32, 1))), "https://id.example.com");
const from = (headers: Record<string, string>) => ({ headers }) as unknown as FastifyRequest;
const own = from({ "sec-fetch-site": "same-origin", origin: "https://id.example.com" });

test("a token is valid for its browser and organisation, on every node with the same key", () => {
  const token = ours.token(ORG, BROWSER);
  assert.equal(
    csrf(macs(keyRing(Buffer.alloc(32, 1))), "https://id.example.com").isOwn(own, ORG, BROWSER, token),
    true,
  );
  for (const [what, is] of [
    ["another organisation's", ours.isOwn(own, ORG, BROWSER, ours.token(OTHER_ORG, BROWSER))],
    ["another browser's", ours.isOwn(own, ORG, BROWSER, ours.token(ORG, OTHER_BROWSER))],
    [
      "another key's",
      ours.isOwn(
        own,
        ORG,
        BROWSER,
        csrf(macs(keyRing(Buffer.alloc(32, 2))), "https://id.example.com").token(ORG, BROWSER),
      ),
    ],
    ["none", ours.isOwn(own, ORG, BROWSER, undefined)],
    ["empty", ours.isOwn(own, ORG, BROWSER, "")],
    ["the cookie itself", ours.isOwn(own, ORG, BROWSER, BROWSER)],
    ["cut short", ours.isOwn(own, ORG, BROWSER, token.slice(0, -1))],
    ["with something behind", ours.isOwn(own, ORG, BROWSER, `${token}=`)],
    ["without a cookie", ours.isOwn(own, ORG, undefined, token)],
    ["without either", ours.isOwn(own, ORG, undefined, undefined)],
  ] as const)
    assert.equal(is, false, what);
});

test("a token doesn't reveal the cookie", () => {
  assert.match(ours.token(ORG, BROWSER), /^[A-Za-z0-9_-]{43}$/);
  assert.notEqual(ours.token(ORG, BROWSER), ours.token(ORG, OTHER_BROWSER));
});

test("Sec-Fetch-Site and Origin are checked before the token", () => {
  const cases: ReadonlyArray<readonly [headers: Record<string, string>, own: boolean]> = [
    [{ "sec-fetch-site": "same-origin" }, true],
    [{ "sec-fetch-site": "same-origin", origin: "null" }, true],
    [{ "sec-fetch-site": "same-site" }, false],
    [{ "sec-fetch-site": "cross-site" }, false],
    [{ "sec-fetch-site": "none" }, false],
    [{ "sec-fetch-site": "" }, false],
    [{ "sec-fetch-site": "cross-site", origin: "https://id.example.com" }, false],
    [{ origin: "https://id.example.com" }, true],
    // Our own pages send no referrer, and older browsers then no origin. The token is still asked for.
    [{ origin: "null" }, true],
    [{}, true],
    [{ origin: "http://id.example.com" }, false],
    [{ origin: "https://id.example.com:8443" }, false],
    [{ origin: "https://ID.example.com" }, false],
    [{ origin: "https://id.example.com.evil.example" }, false],
    [{ origin: "https://evil.example" }, false],
    [{ origin: "" }, false],
  ];
  const token = ours.token(ORG, BROWSER);
  for (const [headers, expected] of cases) {
    assert.equal(ours.isOwn(from(headers), ORG, BROWSER, token), expected, JSON.stringify(headers));
    assert.equal(ours.isSameOrigin(from(headers)), expected, JSON.stringify(headers));
    assert.equal(ours.isOwn(from(headers), ORG, BROWSER, "x"), false, "and never without the token");
  }
});
