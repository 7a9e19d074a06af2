import assert from "node:assert/strict";
import { test } from "node:test";
import { defaultSettings } from "../../../core/applications/application.ts";
import { type ApplicationKind, clientTypeOf, settingsOfKind } from "../../../core/applications/kinds.ts";
import { settingPath, tabFields, tabIds, tabOf } from "./record-tabs.ts";
import { controls, type SettingId } from "./setting-fields.ts";

const application = (kind: ApplicationKind, settings = {}) => {
  const clientType = clientTypeOf[kind];
  return { clientType, settings: { ...defaultSettings(clientType), ...settingsOfKind(kind), ...settings } };
};
const fieldsOf = (kind: ApplicationKind, settings = {}): SettingId[] =>
  tabIds.flatMap((tab) => tabFields(tab, application(kind, settings)));

test("a web application with return URLs has every setting, on one tab each", () => {
  const all = fieldsOf("web", { returnUrls: ["https://old.example/"] });
  assert.deepEqual(all.toSorted(), Object.keys(controls).sort());
  assert.deepEqual([tabOf("redirectUris"), settingPath("name")], ["urls", "#name"]);
});

test("what an application's type has no use for is left out, unless it is in use", () => {
  const spa = fieldsOf("spa");
  for (const id of ["tokenEndpointAuthMethod", "jwks", "requirePkce", "allowPermanentKeys"] as const)
    assert.ok(!spa.includes(id), id);
  assert.ok(spa.includes("redirectUris"));
  const service = fieldsOf("service");
  for (const id of [
    "redirectUris",
    "consentMode",
    "access",
    "requirePkce",
    "idTokenSignedResponseAlg",
    "groupsClaim",
    "groupsClaimValue",
  ] as const)
    assert.ok(!service.includes(id), id);
  assert.ok(service.includes("tokenEndpointAuthMethod") && service.includes("allowedScopes"));
  assert.ok(fieldsOf("service", { redirectUris: ["https://left.example/"] }).includes("redirectUris"));
  assert.ok(fieldsOf("spa", { allowPermanentKeys: true }).includes("allowPermanentKeys"));
});
