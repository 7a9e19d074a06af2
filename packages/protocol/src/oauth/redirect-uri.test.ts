import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { type ClientType, checkRegistrableRedirectUri, matchRedirectUri } from "./redirect-uri.ts";

// Any UTF-16 string, lone surrogates included.
const anyText = fc.string({ unit: fc.nat(0xffff).map((code) => String.fromCharCode(code)) });

const clientTypes: readonly ClientType[] = ["confidential", "public", "native", "spa"];

const registrable = [
  "https://app.example.com",
  "https://app.example.com/",
  "https://app.example.com/callback",
  "https://app.example.com:8443/callback?tenant=a%20b",
  "https://app.example.com?tenant=1",
  "https://xn--bcher-kva.example/cb",
  "https://intranet/cb",
  "https://192.0.2.1/cb",
  "https://[2001:db8::1]/cb",
  "https://app.example.com/.well-known/cb",
  "https://app.example.com/a..b/cb",
  "https://app.example.com/cb?next=/../x",
  "http://127.0.0.1/callback",
  "http://127.0.0.1:8765/callback",
  "http://[::1]/callback",
  "http://localhost:3000/",
];

test("every client may register https URLs and http URLs on loopback", () => {
  for (const clientType of clientTypes) {
    for (const uri of registrable) assert.equal(checkRegistrableRedirectUri(uri, clientType), undefined, uri);
  }
});

test("a private-use scheme is for native clients, and needs a dot and a slash (RFC 8252 §7.1)", () => {
  for (const uri of ["com.example.app:/oauth", "com.example.app://oauth", "com.example.app:/"]) {
    for (const clientType of clientTypes) {
      assert.equal(
        checkRegistrableRedirectUri(uri, clientType) === undefined,
        clientType === "native",
        `${clientType} ${uri}`,
      );
    }
  }
  for (const uri of [
    "myapp:/oauth",
    "myapp://oauth",
    "com.example.app:oauth",
    "com.example.app:",
    "Com.Example.App:/oauth",
  ]) {
    assert.notEqual(checkRegistrableRedirectUri(uri, "native"), undefined, uri);
  }
});

const refused: readonly [string, RegExp][] = [
  ["", /absolute/],
  ["/callback", /absolute/],
  ["//app.example.com/callback", /absolute/],
  ["app.example.com/callback", /absolute/],
  ["https://", /absolute/],
  ["http://app.example.com/callback", /https/],
  ["http://127.0.0.2/callback", /https/],
  ["http://0.0.0.0/callback", /https/],
  ["http://localhost.example.com/callback", /https/],
  ["http://127.0.0.1.example.com/callback", /https/],
  ["https://app.example.com/callback#", /fragment/],
  ["https://app.example.com/callback#x", /fragment/],
  ["https://user@app.example.com/callback", /user name/],
  ["https://user:password@app.example.com/callback", /user name/],
  ["https://@app.example.com/callback", /user name/],
  ["https://app.example.com:@evil.example/callback", /user name/],
  ["https:user@app.example.com/callback", /user name/],
  ["com.example.app://user@host/callback", /user name/],
  ["https://app.example.com\\@evil.example/", /backslash/],
  ["https:\\\\app.example.com/", /backslash/],
  ["https://*.example.com/callback", /wildcard/],
  ["https://app.example.com/*", /wildcard/],
  ["https://app.example.com/a b", /printable/],
  [" https://app.example.com/", /printable/],
  ["https://app.example.com/\n", /printable/],
  ["https://app.example.com/\0", /printable/],
  ["ht\ttps://app.example.com/", /printable/],
  ["https://app.exämple.com/", /printable/],
  ["https://app.example.com/a/../b", /dot segments/],
  ["https://app.example.com/./b", /dot segments/],
  ["https://app.example.com/a/..", /dot segments/],
  ["https://app.example.com/a/..?x=1", /dot segments/],
  ["https://app.example.com/a/%2e%2e/b", /dot segments/],
  ["https://app.example.com/a/.%2E/b", /dot segments/],
  ["https://app.example.com/a/..;/b", /dot segments/],
  ["https://app.example.com/a/..;x=1/b", /dot segments/],
  ["https://app.example.com/a%2f..%2fb", /dot segments/],
  ["https://app.example.com/a%5c..%5cb", /dot segments/],
  ["https://app.example.com;script-src/", /plain host name/],
  ["https://app.example.com,evil.example/", /plain host name/],
  ["https://app_1.example.com/", /plain host name/],
  ["https://app.example.com./", /plain host name/],
  ["https://-app.example.com/", /plain host name/],
  ["https://APP.example.com/", /normal form/],
  ["HTTPS://app.example.com/", /normal form/],
  ["https://app.example.com:443/", /normal form/],
  ["https://app.example.com:/", /normal form/],
  ["https:app.example.com/", /normal form/],
  ["https:///app.example.com/", /normal form/],
  ["https://2130706433/", /normal form/],
  ["http://127.1/", /normal form/],
  ["http://0x7f.0.0.1/", /normal form/],
  ["http://[0:0:0:0:0:0:0:1]/", /normal form/],
  [`https://app.example.com/${"a".repeat(2048)}`, /longer/],
];

test("rejects ambiguous and unsafe URLs for every client, with a reason", () => {
  for (const clientType of clientTypes) {
    for (const [uri, reason] of refused)
      assert.match(checkRegistrableRedirectUri(uri, clientType)?.message ?? "accepted", reason, uri);
  }
});

test("rejects URL schemes that the browser executes or reads locally", () => {
  const bodies = ["alert(1)", "//alert(1)", "/alert(1)", "//a.example/%0aalert(1)", "text/html,<b>"];
  for (const scheme of [
    "javascript",
    "JavaScript",
    "data",
    "file",
    "blob",
    "vbscript",
    "about",
    "view-source",
    "ftp",
    "ws",
  ]) {
    for (const body of bodies) {
      for (const clientType of clientTypes) {
        const uri = `${scheme}:${body}`;
        assert.notEqual(checkRegistrableRedirectUri(uri, clientType), undefined, uri);
      }
    }
  }
});

test("never throws, and accepts only URLs that a browser keeps byte for byte", () => {
  const piece = fc.oneof(
    fc.constantFrom(
      "https://",
      "http://",
      "localhost",
      "127.0.0.1",
      "[::1]",
      "a.example",
      ":80",
      "/",
      "..",
      "%2e",
      ";",
      "?",
      "@",
      "\\",
      "com.app:",
    ),
    anyText,
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 8 }), fc.constantFrom(...clientTypes), (pieces, clientType) => {
      const uri = pieces.join("");
      if (checkRegistrableRedirectUri(uri, clientType) !== undefined) return;
      const { href, origin, search } = new URL(uri);
      assert.ok([href, origin, origin + search].includes(uri), uri);
    }),
    { numRuns: 1000 },
  );
});

test("matches a requested URI byte for byte", () => {
  const list = ["https://app.example.com/cb", "https://app.example.com/cb?x=1", "com.example.app:/cb"];
  for (const uri of list) assert.equal(matchRedirectUri(uri, list, "native"), true, uri);
  const others = [
    "",
    "https://app.example.com/cb/",
    "https://app.example.com/CB",
    "https://app.example.com/cb?x=2",
    "https://app.example.com/cb?x=1&y=2",
    "https://app.example.com/cb#x",
    "https://app.example.com:443/cb",
    "https://app.example.com:8443/cb",
    "https://app.example.com/a/../cb",
    "https://app.example.com/%63b",
    "https://app.example.com.evil.example/cb",
    "https://app.example.com@evil.example/cb",
    "https://app.example.com\\@evil.example/cb",
    "https://sub.app.example.com/cb",
    "http://app.example.com/cb",
    "HTTPS://app.example.com/cb",
    "com.example.app:/cb/x",
    "com.example.app://cb",
  ];
  for (const uri of others) assert.equal(matchRedirectUri(uri, list, "native"), false, uri);
});

test("the loopback port of a client that is not native matches exactly (RFC 8252 §7.3 is about native ones)", () => {
  const list = ["http://127.0.0.1:3000/cb", "http://localhost/cb"];
  for (const clientType of ["confidential", "public", "spa"] as const) {
    for (const uri of list) assert.equal(matchRedirectUri(uri, list, clientType), true);
    for (const uri of ["http://127.0.0.1:3001/cb", "http://127.0.0.1/cb", "http://localhost:1/cb"])
      assert.equal(matchRedirectUri(uri, list, clientType), false, `${clientType} ${uri}`);
  }
});

test("allows native clients any port on loopback, and no other difference (RFC 8252 §7.3)", () => {
  const list = ["http://127.0.0.1/cb", "http://localhost:3000/cb?x=1", "http://[::1]/cb"];
  for (const uri of [
    "http://127.0.0.1:51004/cb",
    "http://127.0.0.1:80/cb",
    "http://localhost:1/cb?x=1",
    "http://localhost/cb?x=1",
    "http://[::1]:65535/cb",
  ]) {
    assert.equal(matchRedirectUri(uri, list, "native"), true, uri);
  }
  const others = [
    "http://127.0.0.1:51004/cb2",
    "http://127.0.0.1:51004/cb#x",
    "http://127.0.0.1:51004/cb?x=1",
    "http://127.0.0.1:51004",
    "http://127.0.0.1:/cb",
    "http://127.0.0.1:0/cb",
    "http://127.0.0.1:080/cb",
    "http://127.0.0.1:65536/cb",
    "http://127.0.0.1:80@evil.example/cb",
    "http://127.0.0.1:80.evil.example/cb",
    "http://127.0.0.1:80\\evil.example/cb",
    "http://user@127.0.0.1:80/cb",
    "https://127.0.0.1:51004/cb",
    "HTTP://127.0.0.1:51004/cb",
    "http://localhost:51004/cb",
    "http://127.0.0.1:3000/cb?x=1",
    "http://127.0.0.2:51004/cb",
    "http://localhost.evil.example:3000/cb?x=1",
  ];
  for (const uri of others) assert.equal(matchRedirectUri(uri, list, "native"), false, uri);
  assert.equal(
    matchRedirectUri("http://127.0.0.1:80@evil.example/", ["http://127.0.0.1@evil.example/"], "native"),
    false,
  );
  assert.equal(matchRedirectUri("https://127.0.0.1:2/cb", ["https://127.0.0.1:1/cb"], "native"), false);
  assert.equal(
    matchRedirectUri("http://app.example.com:2/cb", ["http://app.example.com:1/cb"], "native"),
    false,
  );
});
