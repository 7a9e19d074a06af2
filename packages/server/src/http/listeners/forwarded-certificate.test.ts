import assert from "node:assert/strict";
import { test } from "node:test";
import { testCertificate } from "@signet/protocol/testing/test-certificate";
import {
  type CertificateFormat,
  forwardedCertificate,
  MalformedCertificate,
} from "./forwarded-certificate.ts";

const { der, pem, x5c } = testCertificate({ subject: "meter" });
const escaped = encodeURIComponent(pem);

function assertRefused(values: readonly string[], format: CertificateFormat): void {
  assert.throws(
    () => forwardedCertificate(values, format),
    MalformedCertificate,
    values.join(" | ").slice(0, 100),
  );
}

test("a certificate comes as RFC 9440 writes it, or as nginx does", () => {
  assert.deepEqual(forwardedCertificate([`:${x5c}:`], "rfc9440"), der);
  assert.deepEqual(forwardedCertificate([escaped], "nginx"), der);
  // What nginx leaves as it is, and what it writes at the end.
  assert.deepEqual(forwardedCertificate([escaped.replaceAll("%2B", "+")], "nginx"), der);
  assert.deepEqual(forwardedCertificate([escaped.replace(/%0A$/, "")], "nginx"), der);
});

test("without the header there is no certificate", () => {
  assert.equal(forwardedCertificate(undefined, "rfc9440"), undefined);
  assert.equal(forwardedCertificate([], "nginx"), undefined);
});

test("two headers are refused, even when they say the same", () => {
  assertRefused([`:${x5c}:`, `:${x5c}:`], "rfc9440");
  assertRefused([escaped, escaped], "nginx");
  assertRefused([`:${x5c}:, :${x5c}:`], "rfc9440");
});

test("each form stands for itself", () => {
  assertRefused([escaped], "rfc9440");
  assertRefused([`:${x5c}:`], "nginx");
});

test("what is not exactly one certificate is refused", () => {
  const other = testCertificate({ subject: "other" });
  const trailing = Buffer.concat([der, Buffer.from([0])]).toString("base64");
  const both = Buffer.concat([der, other.der]).toString("base64");
  for (const value of [
    ...["", "::", ":", x5c, `:${x5c}`, `:${x5c}:;a=1`, ` :${x5c}: `, `:${x5c.replace(/=*$/, "")}=====:`],
    ...[`:${trailing}:`, `:${both}:`, `:${der.subarray(0, -1).toString("base64")}:`, ":AAAA:"],
    ...[
      `:${Buffer.from(pem).toString("base64")}:`,
      `:${"A".repeat(20_000)}:`,
      `:${x5c.replace(/\+|\//, "-")}\u00e6:`,
    ],
  ])
    assertRefused([value], "rfc9440");
  for (const value of [
    ...["", "%", "%zz", encodeURIComponent(pem + other.pem), encodeURIComponent(` ${pem}`), `${escaped}x`],
    ...[encodeURIComponent(pem.replaceAll("CERTIFICATE", "PUBLIC KEY")), "%00", "%FF"],
    encodeURIComponent(`-----BEGIN CERTIFICATE-----\n${trailing}\n-----END CERTIFICATE-----\n`),
  ])
    assertRefused([value], "nginx");
});

test("any byte of it changed is another certificate or none, and never an error of another kind", () => {
  for (let at = 0; at < der.length; at += 3) {
    const changed = Buffer.from(der);
    changed.writeUInt8((changed.readUInt8(at) ^ 0x11) & 0xff, at);
    try {
      const read = forwardedCertificate([`:${changed.toString("base64")}:`], "rfc9440");
      assert.deepEqual(read, changed);
    } catch (error) {
      assert.ok(error instanceof MalformedCertificate, String(error));
    }
  }
});
