import assert from "node:assert/strict";
import { test } from "node:test";
import { randomSecret } from "./hash.ts";
import { redactSecrets } from "./redact-secrets.ts";

test("a secret of any kind leaves its kind behind and nothing else", () => {
  for (const kind of ["cs", "sk", "rt", "ac", "dc", "ak", "sa", "bs"]) {
    const secret = randomSecret(`sgn_${kind}_`);
    const text = redactSecrets(`cannot read /legacy/api/Keys/User/${secret}?key=${secret} at line 1`);
    const left = `sgn_${kind}_[redacted]`;
    assert.equal(text, `cannot read /legacy/api/Keys/User/${left}?key=${left} at line 1`);
  }
});

test("escaped ones too, and other text stays as it is", () => {
  assert.ok(!redactSecrets("x?key=sgn%5Fsk%5FabcDEF-_123").includes("abcDEF"));
  assert.ok(!redactSecrets("SGN_SK_abcDEF").includes("abcDEF"));
  const text = "no such table: session_key (sgn is short for Signet)";
  assert.equal(redactSecrets(text), text);
});
