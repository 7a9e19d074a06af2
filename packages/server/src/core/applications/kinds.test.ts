import assert from "node:assert/strict";
import { test } from "node:test";
import { defaultSettings } from "./application.ts";
import { bothConsentMembers } from "./consent-mode.ts";
import {
  type ApplicationKind,
  addressOf,
  applicationKinds,
  clientTypeOf,
  hasAddress,
  kindOf,
  settingsAt,
  settingsOfKind,
} from "./kinds.ts";
import { requireValidApplication } from "./validation.ts";

const made = (kind: ApplicationKind, address: string) => {
  const own = hasAddress(kind) ? settingsAt(kind, address) : settingsOfKind(kind);
  const clientType = clientTypeOf[kind];
  return { clientType, settings: { ...defaultSettings(clientType), ...own, ...bothConsentMembers({}) } };
};

for (const kind of applicationKinds) {
  test(`what a ${kind} starts with is a valid record, and is recognised as what it is`, () => {
    for (const address of ["http://localhost:3000", "https://shop.example"]) {
      const application = made(kind, address);
      requireValidApplication({ name: "Shop", ...application });
      assert.equal(kindOf(application), kind);
    }
  });
}

test("only kinds with browser sign-in have a URL, and return to the SDK", () => {
  assert.deepEqual(made("web", "http://localhost:3000").settings.redirectUris, [
    "http://localhost:3000/signet/callback",
  ]);
  assert.deepEqual(made("spa", "https://spa.example").settings.redirectUris, ["https://spa.example/"]);
  assert.deepEqual(made("legacy", "https://old.example").settings.returnUrls, ["https://old.example/"]);
  assert.deepEqual(settingsAt("service", "https://x.example").redirectUris, undefined);
});

test("sets a back-channel logout URL for https applications only", () => {
  const told = (address: string) => made("web", address).settings.backchannelLogoutUri;
  assert.equal(told("https://shop.example"), "https://shop.example/signet/back-channel-logout");
  assert.equal(told("http://localhost:3000"), undefined);
});

test("a public client of no other kind is a public client", () => {
  assert.equal(kindOf({ clientType: "public", settings: defaultSettings("public") }), "public");
});

test("an origin is normalised as browsers do", () => {
  assert.equal(addressOf(" https://Shop.example:443/ "), "https://shop.example");
  assert.equal(addressOf("http://localhost:3000"), "http://localhost:3000");
  for (const text of [
    "",
    "shop.example",
    "https://shop.example/app",
    "https://shop.example/?a",
    "https://u@shop.example",
    "javascript:alert(1)",
    "com.example.app:/",
  ])
    assert.equal(addressOf(text), undefined, text);
});
