import assert from "node:assert/strict";
import { test } from "node:test";
import { type Consent, coveringConsent } from "./consent.ts";

const consent = (kind: Consent["kind"], scopes: readonly string[]): Consent => ({
  orgId: "org",
  id: `${kind} ${scopes.join(" ")}`,
  kind,
  applicationId: "app",
  userId: kind === "user" ? "uma" : null,
  scopes,
  grantedBy: "x",
  grantedAt: 0,
});

test("a consent covers what it names and any part of it, and nothing more", () => {
  const granted = [consent("user", ["openid", "email"])];
  for (const scopes of [["openid", "email"], ["email"], ["email", "openid"], []])
    assert.ok(coveringConsent(granted, scopes), scopes.join(" "));
  for (const scopes of [["phone"], ["openid", "email", "phone"], ["OPENID"], ["openid email"], [""]])
    assert.equal(coveringConsent(granted, scopes), undefined, scopes.join(" "));
  assert.equal(coveringConsent([], ["openid"]), undefined);
});

test("two that cover only together do not", () => {
  const granted = [consent("user", ["openid"]), consent("organisation", ["email"])];
  assert.equal(coveringConsent(granted, ["openid", "email"]), undefined);
});

test("the user's own comes first: taking it back has the effect that they expect", () => {
  const granted = [consent("organisation", ["openid"]), consent("user", ["openid"])];
  assert.equal(coveringConsent(granted, ["openid"])?.kind, "user");
  assert.equal(coveringConsent(granted.slice(0, 1), ["openid"])?.kind, "organisation");
});
