import assert from "node:assert/strict";
import { test } from "node:test";
import { messages } from "../../../html/messages/messages.ts";
import { redirectUrisFault, returnUrlsFault, settingFaults } from "./setting-faults.ts";

const en = messages(["en"]);
const { reasons } = en.console.applicationSettings;
/** Of a list with one line, whose number says nothing. */
const alone = (reason: string) => reason.charAt(0).toUpperCase() + reason.slice(1);

test("every reason of the URI validation has a text in the reader's language", () => {
  const cases: ReadonlyArray<readonly [string, keyof typeof reasons]> = [
    [`https://a.example/${"a".repeat(2_048)}`, "tooLong"],
    ["https://a.example/ b", "printable"],
    ["https://a.example\\b", "backslash"],
    ["https://*.example/", "wildcard"],
    ["https://a.example/#b", "fragment"],
    ["a.example", "absolute"],
    ["https://u:p@a.example/", "userinfo"],
    ["https://a.example/../b", "dotSegments"],
    ["https://a_b.example/", "host"],
    ["http://a.example/", "https"],
    ["com.example:/b", "privateUse"],
    ["HTTPS://a.example/", "normalForm"],
  ];
  for (const [uri, reason] of cases)
    assert.equal(redirectUrisFault(`https://fine.example/\n${uri}`, "spa", en), `Line 2: ${reasons[reason]}`);
  assert.equal(redirectUrisFault("\ncom.example:b", "native", en), alone(reasons.slash));
  assert.equal(returnUrlsFault("https://a.example//b", "confidential", en), alone(reasons.plain));
  const german = messages(["de"]);
  const expected = german.console.applicationSettings.reasons.wildcard;
  assert.ok(redirectUrisFault("https://a.example/\nhttps://*.example/", "spa", german)?.endsWith(expected));
});

test("reports a fault without a text of its own, once for each field", () => {
  const faults = [
    { path: "contacts[3]", message: "x" },
    { path: "contacts[4]", message: "y" },
    { path: "idTokenSignedResponseAlg", message: "z" },
    { path: "requireConsent", message: "z" },
  ];
  const ids = ["consentMode", "contacts", "idTokenSignedResponseAlg"] as const;
  const texts = settingFaults(faults, ids, en);
  assert.deepEqual(Object.keys(texts), [...ids]);
  assert.equal(texts["idTokenSignedResponseAlg"], en.console.applicationSettings.faults.other);
  assert.match(texts["contacts"] ?? "", /^Line 4: /);
});
