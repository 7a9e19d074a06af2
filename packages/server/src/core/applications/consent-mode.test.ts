import assert from "node:assert/strict";
import { test } from "node:test";
import { defaultSettings } from "./application.ts";
import { bothConsentMembers, consentModeOf } from "./consent-mode.ts";
import { InvalidApplication, requireValidApplication } from "./validation.ts";

test("RequireConsent=false and preauthorized are the same setting", () => {
  const table = [
    [{}, true, "user"],
    [{ requireConsent: true }, true, "user"],
    [{ requireConsent: false }, false, "preauthorized"],
    [{ consentMode: "preauthorized" }, false, "preauthorized"],
    [{ consentMode: "organisation" }, true, "organisation"],
    [{ consentMode: "user" }, true, "user"],
  ] as const;
  for (const [given, requireConsent, consentMode] of table) {
    assert.deepEqual(bothConsentMembers(given), { requireConsent, consentMode });
    assert.equal(consentModeOf(bothConsentMembers(given)), consentMode);
  }
});

test("reads records older than the setting by RequireConsent alone", () => {
  assert.equal(consentModeOf({ requireConsent: true }), "user");
  assert.equal(consentModeOf({ requireConsent: false }), "preauthorized");
});

test("rejects contradicting values", () => {
  const check = (given: object) =>
    requireValidApplication({
      name: "App",
      clientType: "confidential",
      settings: { ...defaultSettings("confidential"), ...given },
    });
  check({ consentMode: "organisation", requireConsent: true });
  for (const given of [
    { consentMode: "preauthorized", requireConsent: true },
    { consentMode: "organisation", requireConsent: false },
    { consentMode: "nobody", requireConsent: true },
  ])
    assert.throws(() => check(given), InvalidApplication);
});
