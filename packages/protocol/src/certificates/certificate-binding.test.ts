import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { sha256Base64url } from "../hash.ts";
import { testCertificate } from "../testing/test-certificate.ts";
import { certificateBinding } from "./certificate-binding.ts";

const mine = testCertificate({ subject: "meter" }).der;
const others = testCertificate({ subject: "meter" }).der;
const bound = { cnf: { "x5t#S256": sha256Base64url(mine) } };

test("the thumbprint is the base64url SHA-256 of the certificate", () => {
  const thumbprint = createHash("sha256").update(mine).digest("base64url");
  assert.equal(certificateBinding({ cnf: { "x5t#S256": thumbprint } }, mine), "holds");
});

test("a bound token is valid with its certificate only", () => {
  assert.equal(certificateBinding(bound, mine), "holds");
  assert.equal(certificateBinding(bound, others), "broken");
  assert.equal(certificateBinding(bound, undefined), "broken");
});

test("a token without cnf is unbound and proves no certificate", () => {
  assert.equal(certificateBinding({}, mine), "unbound");
  assert.equal(certificateBinding({}, undefined), "unbound");
});

test("rejects a malformed cnf and other confirmation methods", () => {
  const thumbprint = sha256Base64url(mine);
  const inherited: object = Object.create({ "x5t#S256": thumbprint });
  for (const cnf of [null, "", thumbprint, 1, [], {}, { jkt: thumbprint }, { x5t: thumbprint }, inherited])
    assert.equal(certificateBinding({ cnf }, mine), "broken", JSON.stringify(cnf));
  for (const value of [
    null,
    1,
    "",
    thumbprint.slice(0, -1),
    `${thumbprint}=`,
    [thumbprint],
    thumbprint.toLowerCase(),
  ])
    assert.equal(certificateBinding({ cnf: { "x5t#S256": value } }, mine), "broken", JSON.stringify(value));
});
