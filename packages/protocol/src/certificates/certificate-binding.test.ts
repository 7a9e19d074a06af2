import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { testCertificate } from "../testing/test-certificate.ts";
import { certificateBinding, certificateThumbprint, isBoundTo } from "./certificate-binding.ts";

const mine = testCertificate({ subject: "meter" }).der;
const others = testCertificate({ subject: "meter" }).der;
const bound = { cnf: { "x5t#S256": certificateThumbprint(mine) } };

test("the thumbprint is the base64url SHA-256 of the certificate", () => {
  assert.equal(certificateThumbprint(mine), createHash("sha256").update(mine).digest("base64url"));
});

test("a bound token is valid with its certificate only", () => {
  assert.equal(isBoundTo(bound, mine), true);
  assert.equal(isBoundTo(bound, others), false);
  assert.equal(certificateBinding(bound, mine), "holds");
  assert.equal(certificateBinding(bound, others), "broken");
  assert.equal(certificateBinding(bound, undefined), "broken");
});

test("a token without cnf is unbound and proves no certificate", () => {
  assert.equal(certificateBinding({}, mine), "unbound");
  assert.equal(certificateBinding({}, undefined), "unbound");
  assert.equal(isBoundTo({}, mine), false);
});

test("rejects a malformed cnf and other confirmation methods", () => {
  const thumbprint = certificateThumbprint(mine);
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
