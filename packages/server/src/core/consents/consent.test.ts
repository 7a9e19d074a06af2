import assert from "node:assert/strict";
import { test } from "node:test";
import { type CustomScope, fingerprintsOf, type ScopeFingerprints } from "../scopes/custom-scope.ts";
import { type Consent, consentStatus, coveringConsent } from "./consent.ts";

const consent = (
  kind: Consent["kind"],
  scopes: readonly string[],
  fingerprints: ScopeFingerprints = {},
): Consent => ({
  orgId: "org",
  id: kind,
  kind,
  applicationId: "app",
  userId: kind === "user" ? "uma" : null,
  scopes,
  fingerprints,
  grantedBy: "x",
  grantedAt: 0,
  createdAt: 0,
  revokedAt: null,
});
const asked = (scopes: readonly string[], fingerprints: ScopeFingerprints = {}) => ({ scopes, fingerprints });

test("a consent covers its scopes and any subset, nothing more", () => {
  const granted = [consent("user", ["openid", "email"])];
  for (const scopes of [["openid", "email"], ["email"], ["email", "openid"], []])
    assert.ok(coveringConsent(granted, asked(scopes)), scopes.join(" "));
  for (const scopes of [["phone"], ["openid", "email", "phone"], ["OPENID"], ["openid email"], [""]])
    assert.equal(coveringConsent(granted, asked(scopes)), undefined, scopes.join(" "));
  assert.equal(coveringConsent([], asked(["openid"])), undefined);
});

test("two consents that cover a request only together don't suffice", () => {
  const granted = [consent("user", ["openid"]), consent("organisation", ["email"])];
  assert.equal(coveringConsent(granted, asked(["openid", "email"])), undefined);
});

test("the user's own consent comes first", () => {
  const granted = [consent("organisation", ["openid"]), consent("user", ["openid"])];
  assert.equal(coveringConsent(granted, asked(["openid"]))?.kind, "user");
  assert.equal(coveringConsent(granted.slice(0, 1), asked(["openid"]))?.kind, "organisation");
});

test("a user's consent covers the scope's claims of that time; an administrator's covers the scope", () => {
  const gave = (kind: Consent["kind"]) => [consent(kind, ["hr"], { hr: ["role", "team"] })];
  const covers = (kind: Consent["kind"], gives: readonly string[]) =>
    coveringConsent(gave(kind), asked(["hr"], { hr: gives })) !== undefined;
  assert.deepEqual(
    [["role", "team"], ["team"], [], ["role", "salary"], ["salary"]].map((gives) => covers("user", gives)),
    [true, true, true, false, false],
  );
  assert.equal(covers("organisation", ["salary"]), true);
  assert.equal(covers("preauthorization", ["salary"]), true);
  const named = [consent("user", ["constructor"])];
  assert.equal(coveringConsent(named, asked(["constructor"], { constructor: ["role"] })), undefined);
});

test("the consent mode decides who consents, and a covering consent suffices in each mode", () => {
  const user = consent("user", ["openid"]);
  const records = [
    undefined,
    user,
    consent("organisation", ["openid"]),
    consent("preauthorization", ["openid"]),
  ];
  const table = (mode: Parameters<typeof consentStatus>[0]) =>
    records.map((record) => {
      const status = consentStatus(mode, record ? [record] : [], asked(["openid"]));
      return status.kind === "settled" ? `by ${status.consentId}` : status.kind;
    });
  assert.deepEqual(table("user"), ["ask-user", "by user", "by organisation", "by preauthorization"]);
  assert.deepEqual(table("organisation"), [
    "ask-administrator",
    "ask-administrator",
    "by organisation",
    "by preauthorization",
  ]);
  assert.deepEqual(table("preauthorized"), ["by null", "by user", "by organisation", "by preauthorization"]);
});

test("who consented to an organisation's own scope named address has not consented to the standard one", () => {
  const own = (claims: CustomScope["claims"]) => [{ name: "address", claims }] as unknown as CustomScope[];
  const standard = asked(["address"], fingerprintsOf([], ["openid", "address"]));
  for (const claims of [[], [{ name: "home", source: "user", path: "attributes.home" }] as const]) {
    const custom = asked(["address"], fingerprintsOf(own(claims), ["address"]));
    const before = [consent("user", ["address"], custom.fingerprints)];
    assert.ok(coveringConsent(before, custom), "it stays enough for that");
    assert.equal(coveringConsent(before, standard), undefined);
  }
  assert.ok(coveringConsent([consent("user", ["address"], standard.fingerprints)], standard));
});
