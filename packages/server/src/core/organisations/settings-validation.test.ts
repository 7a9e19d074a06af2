/** What an organisation's settings may be, whoever changes them. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { logoUriFault, logoUriOf, MAX_LOGO_BYTES, pngFault } from "./logo.ts";
import { defaultOrganisationSettings, type OrganisationSettings } from "./organisation.ts";
import { InvalidSettings, requireValidSettings } from "./settings-validation.ts";

/** As far as its header: what comes after it is for browsers to read. */
function png(width: number, height: number, length = 64): Buffer {
  const file = Buffer.alloc(length);
  file.set([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  file.write("IHDR", 12, "latin1");
  file.writeUInt32BE(width, 16);
  file.writeUInt32BE(height, 20);
  return file;
}

function faults(change: Partial<OrganisationSettings>, changed = Object.keys(change)): string[] {
  try {
    const all = { ...defaultOrganisationSettings, ...change };
    requireValidSettings(all, changed as Array<keyof OrganisationSettings>);
    return [];
  } catch (error) {
    assert.ok(error instanceof InvalidSettings);
    return error.faults.map(({ path, code }) => `${path} ${code}`);
  }
}

test("a logo is a PNG within the size limits", () => {
  assert.equal(pngFault(png(16, 1_024)), undefined);
  assert.equal(pngFault(png(64, 64, MAX_LOGO_BYTES)), undefined);
  assert.equal(pngFault(png(64, 64, MAX_LOGO_BYTES + 1)), "logo-size");
  for (const [width, height] of [
    [15, 64],
    [64, 15],
    [1_025, 64],
    [64, 0x7fffffff],
  ] as const)
    assert.equal(pngFault(png(width, height)), "logo-sides");
  for (const other of ["", "<svg/>", "GIF89a", png(64, 64).toString("latin1", 0, 20)])
    assert.equal(pngFault(Buffer.from(other, "latin1")), "logo-form", other);
});

test("a logo URL contains base64 of a PNG only", () => {
  const fine = logoUriOf(png(64, 64));
  assert.equal(logoUriFault(fine), undefined);
  for (const uri of [
    `${fine}"onerror=x`,
    `${fine} `,
    fine.replace("image/png", "image/svg+xml"),
    fine.replace(";base64", ""),
    "data:image/png;base64,",
    "javascript:alert(1)",
  ])
    assert.equal(logoUriFault(uri), "logo-form", uri);
  assert.equal(logoUriFault(logoUriOf(Buffer.alloc(2 * MAX_LOGO_BYTES))), "logo-size");
  assert.deepEqual(faults({ branding: { logoUri: fine, accentColor: "#A0b1C2" } }), []);
  assert.deepEqual(
    faults({ branding: { logoUri: "https://cdn.example/logo.svg" } }),
    [],
    "kept, and not shown",
  );
  assert.deepEqual(faults({ branding: { logoUri: "/etc/x" } }), ["branding.logoUri logo-form"]);
});

test("help, privacy and terms are https links; help may be an email address", () => {
  const { helpUri, ...webOnly } = {
    helpUri: "mailto:help@acme.example",
    privacyUri: "https://acme.example/privacy?lang=en#top",
    termsUri: "https://acme.example/terms",
  };
  assert.deepEqual(faults({ branding: { helpUri, ...webOnly } }), []);
  assert.deepEqual(faults({ branding: { helpUri: "https://help.acme.example" } }), []);
  for (const uri of [
    "http://acme.example",
    "javascript:alert(1)",
    "data:text/html,x",
    "/privacy",
    "https://user:secret@acme.example",
    "https://acme.example/a b",
    `https://acme.example/${"x".repeat(500)}`,
    "mailto:",
    "mailto:a@b.example?bcc=c@d.example",
    "mailto:a@b.example?subject=x",
    "mailto:a%0A@b.example",
    "mailto:a@b.example%0Abcc:c@d.example",
    "",
  ])
    for (const name of ["helpUri", "privacyUri", "termsUri"] as const)
      assert.deepEqual(faults({ branding: { [name]: uri } }), [`branding.${name} link`], `${name} ${uri}`);
  for (const name of ["privacyUri", "termsUri"] as const)
    assert.deepEqual(faults({ branding: { [name]: helpUri } }), [`branding.${name} link`]);
});

test("reports all faults of changed settings only", () => {
  const wrong = {
    branding: { accentColor: "#12345" },
    passwordMinLength: 7,
    sessionLifetimeSeconds: 299,
    sessionIdleSeconds: 300.5,
    defaultLocale: "EN",
  };
  assert.deepEqual(faults(wrong), [
    "branding.accentColor colour",
    "passwordMinLength range",
    "sessionLifetimeSeconds range",
    "sessionIdleSeconds range",
    "sessionIdleSeconds idle-above-lifetime",
    "defaultLocale language",
  ]);
  assert.deepEqual(faults({ ...wrong, secondFactor: "required" }, ["secondFactor"]), []);
  const shorter = { sessionLifetimeSeconds: 3_600 };
  assert.deepEqual(
    faults(shorter),
    ["sessionIdleSeconds idle-above-lifetime"],
    "either of the two is changed",
  );
});
