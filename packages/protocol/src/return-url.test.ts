import assert from "node:assert/strict";
import { test } from "node:test";
import { isRegistrableReturnUrl, matchReturnUrl, withParameter } from "./return-url.ts";

const registered = ["https://app.example/portal", "https://app.example/files/", "http://127.0.0.1:8765/"];

test("the registered address, and what is below it on a segment's border", () => {
  for (const url of [
    "https://app.example/portal",
    "https://app.example/portal/",
    "https://app.example/portal/a/b.html",
    "https://app.example/portal?x=1",
    "https://app.example/portal?next=%2Fhome%2F..%2Fx&mail=a@b.example",
    "https://app.example/portal/gr%C3%BCn/a;b=c",
    "https://app.example/portal/.well-known/..x",
    "https://app.example/files/",
    "https://app.example/files/a",
    "http://127.0.0.1:8765/",
    "http://127.0.0.1:8765/welcome?x=y",
    "http://127.0.0.1:8765",
  ])
    assert.ok(matchReturnUrl(url, registered), url);
});

test("a whole site is registered by its root", () => {
  for (const root of ["https://app.example", "https://app.example/"]) {
    assert.ok(matchReturnUrl("https://app.example", [root]));
    assert.ok(matchReturnUrl("https://app.example/", [root]));
    assert.ok(matchReturnUrl("https://app.example/anything?x", [root]));
    assert.ok(matchReturnUrl("https://app.example?x", [root]));
  }
});

test("an address that is registered with a query is that address alone", () => {
  const exact = ["https://app.example/cb?tenant=1"];
  assert.ok(matchReturnUrl("https://app.example/cb?tenant=1", exact));
  for (const url of ["cb", "cb?tenant=2", "cb?tenant=1&x=2", "cb/?tenant=1", "cb/x?tenant=1"])
    assert.ok(!matchReturnUrl(`https://app.example/${url}`, exact), url);
});

const differentials: Readonly<Record<string, readonly string[]>> = {
  "beside the registered path": [
    "https://app.example/",
    "https://app.example",
    "https://app.example/portal2",
    "https://app.example/portal-evil/",
    "https://app.example/portal.evil",
    "https://app.example/portal;x",
    "https://app.example/Portal",
    "https://app.example/files",
    "https://app.example/x/portal",
  ],
  "another origin": [
    "https://app.example.evil.example/portal",
    "https://evilapp.example/portal",
    "https://evil.example/portal",
    "https://sub.app.example/portal",
    "https://app.example./portal",
    "https://app.example:8443/portal",
    "http://app.example/portal",
    "http://127.0.0.1/",
    "http://127.0.0.1:8766/",
    "http://localhost:8765/",
    "https://127.0.0.1:8765/",
    "http://127.0.0.1:8765.evil.example/",
    "http://127.0.0.1.evil.example:8765/",
  ],
  "other writings of the same host or port": [
    "https://app.example:443/portal",
    "https://app.example:0443/portal",
    "https://app.example:/portal",
    "https://APP.example/portal",
    "https://app%2eexample/portal",
    "https://app.examp%6ce/portal",
    "https://app。example/portal",
    "https://ａpp.example/portal",
    "https://app.ex\u00adample/portal",
    "http://2130706433:8765/",
    "http://0x7f.1:8765/",
    "http://127.1:8765/",
    "http://0177.0.0.1:8765/",
    "http://[::ffff:127.0.0.1]:8765/",
  ],
  "other writings of the scheme": [
    "HTTPS://app.example/portal",
    "https:app.example/portal",
    "https:/app.example/portal",
    "https:///app.example/portal",
    "//app.example/portal",
    "/portal",
    "javascript://app.example/portal",
    "data:text/html,https://app.example/portal",
    "blob:https://app.example/portal",
    "view-source:https://app.example/portal",
    "com.example.app:/portal",
    " https://app.example/portal",
    "https://app.example/portal ",
    "",
  ],
  userinfo: [
    "https://app.example@evil.example/portal",
    "https://app.example:x@evil.example/portal",
    "https://@app.example/portal",
    "https://u:p@app.example/portal",
    "https://evil.example%40app.example/portal",
    "https://evil.example%2f@app.example/portal",
    "https://evil.example;@app.example/portal",
    "https://evil.example&@app.example/portal",
  ],
  backslashes: [
    "https://evil.example\\@app.example/portal",
    "https://app.example\\portal",
    "https:\\\\app.example/portal",
    "https://app.example/portal\\..\\admin",
    "https://app.example/portal/..\\x",
    "https://app.example/portal?x=\\",
  ],
  "dot segments": [
    "https://app.example/portal/../admin",
    "https://app.example/portal/..",
    "https://app.example/portal/./x",
    "https://app.example/portal/.",
    "https://app.example/../portal",
    "https://app.example/portal/..;/admin",
    "https://app.example/portal/..;x=y/admin",
    "https://app.example/portal/.;/x",
    "https://app.example/portal/..;",
    "https://app.example/portal/..%3b/admin",
    "https://app.example/portal/.%3Bx/admin",
    "https://app.example/portal/..%253b/admin",
    "https://app.example/portal/..%3f/admin",
    "https://app.example/portal/..%23/admin",
    "https://app.example/portal/..%20/admin",
    "https://app.example/portal/.../admin",
    "https://app.example/portal//x",
    "https://app.example//portal",
    "https://app.example/portal//evil.example",
  ],
  "escaped slashes, backslashes and dots": [
    "https://app.example/portal%2f..%2fadmin",
    "https://app.example/portal/%2e%2e/admin",
    "https://app.example/portal/.%2E/admin",
    "https://app.example/portal/%2e",
    "https://app.example/portal/%252e%252e/admin",
    "https://app.example/portal/%25252e/x",
    "https://app.example/portal/a%2Fb",
    "https://app.example/portal/a%5cb",
    "https://app.example/portal/a%255Cb",
    "https://app.example/portal/%c0%ae%c0%ae/admin",
    "https://app.example/portal/%C0%AF",
    "https://app.example/portal/%e0%80%af",
    "https://app.example/portal/%ff",
    "https://app.example%2fportal",
    "https://app.example%23.evil.example/portal",
    "https://app.example%00.evil.example/portal",
  ],
  "controls and what is no address": [
    "https://app.example/portal\n",
    "https://app.example/portal\r\nSet-Cookie: x=y",
    "https://app.example/por\ttal",
    "\thttps://app.example/portal",
    "ht\ntps://app.example/portal",
    "https://app.example/portal\0",
    "https://app.example/portal\u007f",
    "https://app.example/portal/%00",
    "https://app.example/portal/%0d%0aX",
    "https://app.example/portal/%250a",
    "https://app.example/portal/%7f",
    "https://app.example/portal/%zz",
    "https://app.example/portal/%",
    "https://app.example/portal/<x>",
    "https://app.example/portal/\u202e",
    `https://app.example/portal/${"a".repeat(2048)}`,
  ],
  fragments: [
    "https://app.example/portal#",
    "https://app.example/portal#x",
    "https://app.example/portal?x#y",
    "https://evil.example#@app.example/portal",
    "https://evil.example#https://app.example/portal",
    "https://app.example#.evil.example/portal",
    "https://app.example?@evil.example/portal#/portal",
  ],
};

for (const [kind, urls] of Object.entries(differentials)) {
  test(`refused: ${kind}`, () => {
    for (const url of urls) assert.ok(!matchReturnUrl(url, registered), JSON.stringify(url));
  });
}

test("what can be registered is what can match", () => {
  for (const url of registered) assert.ok(isRegistrableReturnUrl(url), url);
  for (const url of [
    "com.example.app:/back",
    "http://app.example/",
    "https://app.example/a/../b",
    "https://a.example/#",
  ])
    assert.ok(!isRegistrableReturnUrl(url), url);
});

test("http is for the loopback interface, whatever is registered; private schemes are nobody's", () => {
  for (const url of [
    "http://app.example/",
    "com.example.app:/back",
    "ftp://app.example/",
    "http://10.0.0.1/",
  ])
    assert.ok(!matchReturnUrl(url, [url]), url);
  for (const url of ["http://localhost:3000/", "http://[::1]:3000/", "http://127.0.0.1/"])
    assert.ok(matchReturnUrl(url, [url]), url);
});

test("what is accepted, browsers open at the registered origin and below the registered path", () => {
  // Every mixture of pieces that parsers disagree about: none that is accepted leads a browser elsewhere.
  const pieces = [
    "/",
    "\\",
    "..",
    ".",
    ";",
    "%2e",
    "%2f",
    "@",
    "#",
    "?",
    ":",
    "a",
    "//",
    "%5c",
    "\t",
    "[",
    "%",
  ];
  let accepted = 0;
  for (const one of pieces)
    for (const two of pieces)
      for (const three of pieces)
        for (const base of [
          "https://app.example",
          "https://app.example/portal",
          "https://app.example/portal/",
        ]) {
          const url = `${base}${one}${two}${three}`;
          if (!matchReturnUrl(url, ["https://app.example/portal"])) continue;
          accepted++;
          const opened = new URL(url);
          assert.equal(opened.origin, "https://app.example", url);
          assert.match(opened.pathname, /^\/portal(\/|$)/, url);
          assert.equal(opened.hash, "", url);
          assert.equal(opened.href, url, url);
        }
  assert.ok(accepted > 100);
});

test("the key is added to the query, and one that was there is left out however it is written", () => {
  const with_ = (url: string) => withParameter(url, "service_key", "sgn_sk_x");
  assert.equal(with_("https://app.example/portal"), "https://app.example/portal?service_key=sgn_sk_x");
  assert.equal(with_("https://app.example/?"), "https://app.example/?service_key=sgn_sk_x");
  assert.equal(with_("https://app.example/?a=1&b=?"), "https://app.example/?a=1&b=?&service_key=sgn_sk_x");
  for (const old of [
    "service_key=evil",
    "Service_Key=evil",
    "service%5fkey=evil",
    "service_key",
    "SERVICE%5FKEY=",
  ])
    assert.equal(
      with_(`https://app.example/?a=1&${old}&b=2`),
      "https://app.example/?a=1&b=2&service_key=sgn_sk_x",
    );
  assert.equal(withParameter("https://app.example/", "x", "a&b=c"), "https://app.example/?x=a%26b%3Dc");
});
