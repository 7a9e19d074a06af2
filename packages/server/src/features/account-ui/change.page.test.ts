import assert from "node:assert/strict";
import { test } from "node:test";
import { render } from "../../html/html.ts";
import { testAccountFrame } from "../../testing/fixtures/account-frame.ts";
import { assertEscapes, assertWellMade } from "../../testing/probes/page-checks.ts";
import {
  authenticatorPage,
  type ChangeFrame,
  confirmPage,
  newPasskeyPage,
  passkeyPage,
  shownCodesPage,
} from "./change.page.ts";
import { type SecurityView, securityPage } from "./security/security.page.ts";

const frame: ChangeFrame = {
  ...testAccountFrame("security"),
  csrf: "the-csrf",
  action: "/oauth/1/account/security/x",
  backUri: "/oauth/1/account/security",
};
const failure = { kind: "refused", title: "It did not work", text: "Try again" } as const;
const setup = {
  qr: { size: 29, path: "M4 4h7v1h-7z" },
  uri: "otpauth://totp/Acme:ada?secret=ABC",
  key: "ABCDEFGH",
};
const security: SecurityView = {
  offered: ["totp", "passkey"],
  ...testAccountFrame("security"),
  isRequired: true,
  factors: {
    signals: { signalCurrentUserDetails: { rpId: "id.example" } },
    passwordSince: 1_790_000_000_000,
    totpSince: 1_790_000_000_000,
    passkeys: [
      {
        name: "Laptop",
        createdAt: 1_790_000_000_000,
        lastUsedAt: null,
        isBackedUp: false,
        uri: "/oauth/1/p?id=a",
      },
      {
        name: "Phone",
        createdAt: 1_790_000_000_000,
        lastUsedAt: 1_790_000_000_000,
        isBackedUp: true,
        uri: "/oauth/1/p?id=b",
      },
    ],
    linkable: [{ connectionId: "8", name: "Okta", uri: "/oauth/1/connections/8/start?flow=x" }],
    identities: [
      { connectionId: "c", name: "Entra ID", createdAt: 1_790_000_000_000, uri: "/oauth/1/c?id=c" },
    ],
    recoveryCodes: 9,
    uris: {
      password: "/e",
      authenticator: "/a",
      authenticatorRemoval: "/b",
      newPasskey: "/c",
      recoveryCodes: "/d",
    },
  },
  trustedBrowsers: [
    { name: "Firefox, Linux", isCurrent: true, lastUsedAt: 1, expiresAt: 2, uri: "/oauth/1/b?id=1" },
    { name: undefined, isCurrent: false, lastUsedAt: 1, expiresAt: 2, uri: "/oauth/1/b?id=2" },
  ],
  forgetAllUri: "/oauth/1/b",
};

test("change pages render valid HTML and escape every value, with and without a failure", () => {
  for (const more of [{}, { failure }]) {
    const confirm = {
      ...frame,
      ...more,
      heading: "Sure?",
      text: "It goes.",
      confirm: "Go",
      fields: [{ name: "id", value: "1" }],
    };
    assertWellMade(confirmPage(confirm));
    assertEscapes(confirmPage, confirm);
    assert.match(render(confirmPage(confirm)), /class="button dangerous"/);
    assert.doesNotMatch(render(confirmPage({ ...confirm, isHarmless: true })), /danger/);
    const app = { ...frame, ...more, setup, enrolment: "sealed", replaces: true };
    assertWellMade(authenticatorPage(app));
    assertEscapes(authenticatorPage, { ...app, setup: { ...setup, uri: "otpauth://totp/" } });
    const added = {
      ...frame,
      ...more,
      options: '{"a":"b"}',
      name: "My passkey",
      script: "/assets/passkey.js",
    };
    assertWellMade(newPasskeyPage(added));
    assertEscapes(newPasskeyPage, added);
    const one = { ...frame, ...more, id: "abc", name: "Laptop", input: "Lap" };
    assertEscapes(passkeyPage, one);
    assert.match(render(passkeyPage(one)), /<label for="name">/);
  }
  const codes = { ...frame, codes: ["aaaa-bbbb"] };
  assertWellMade(shownCodesPage(codes));
  assertEscapes(shownCodesPage, codes);
});

test("the security page renders valid HTML and escapes every value: full, empty and for a guest", () => {
  const factors = security.factors && {
    ...security.factors,
    totpSince: undefined,
    passkeys: [],
    recoveryCodes: 0,
  };
  for (const view of [
    security,
    { ...security, factors, trustedBrowsers: [] },
    { ...security, factors: undefined },
  ]) {
    assertWellMade(securityPage(view));
    assertEscapes(securityPage, view);
  }
});

test("trusted browsers are shown only with a second factor, and to guests", () => {
  const none = { totpSince: undefined, passkeys: [], recoveryCodes: 0 };
  const has = (view: SecurityView) => render(securityPage(view)).includes('id="devices"');
  const alone = { ...security, factors: security.factors && { ...security.factors, ...none } };
  assert.equal(has({ ...alone, trustedBrowsers: [] }), false);
  assert.ok(has(alone));
  assert.ok(has({ ...security, trustedBrowsers: [] }));
  assert.ok(has({ ...security, factors: undefined, trustedBrowsers: [] }));
});

test("the link of each record has an accessible name that includes the record", () => {
  const page = render(securityPage(security));
  for (const name of [
    "Edit the passkey Laptop",
    "Edit the passkey Phone",
    "Remove Firefox, Linux",
    "Remove Unknown browser",
  ])
    assert.ok(page.includes(`aria-label="${name}"`), name);
  assert.match(page, /9 of 10 codes left\./);
  assert.match(page, /Acme requires a second factor for all accounts\./);
});

test("an invalid code is announced with its field", () => {
  const view = { ...frame, failure, setup, enrolment: "sealed", replaces: false };
  assert.match(
    render(authenticatorPage(view)),
    /id="code"[^>]* aria-invalid="true" aria-describedby="change-notice"/,
  );
});
