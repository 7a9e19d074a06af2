import assert from "node:assert/strict";
import { test } from "node:test";
import { isMailable, parseSender, parseSmtpUrl } from "./smtp-settings.ts";

test("remote servers require TLS and a valid certificate", () => {
  assert.deepEqual(parseSmtpUrl("smtp://ada:p%40ss@mail.example:2525"), {
    host: "mail.example",
    port: 2525,
    isSecure: false,
    requiresTls: true,
    verifiesCertificate: true,
    credentials: { user: "ada", password: "p@ss" },
  });
  assert.deepEqual(parseSmtpUrl("smtps://mail.example"), {
    host: "mail.example",
    port: 465,
    isSecure: true,
    requiresTls: true,
    verifiesCertificate: true,
  });
});

test("a loopback relay may be without TLS or with a self-signed certificate", () => {
  for (const host of ["localhost", "127.0.0.1", "[::1]"]) {
    const settings = parseSmtpUrl(`smtp://${host}`);
    assert.ok(typeof settings === "object");
    assert.equal(settings.port, 587);
    assert.equal(settings.requiresTls, false, host);
    assert.equal(settings.verifiesCertificate, false, host);
  }
  const far = parseSmtpUrl("smtp://127.0.0.1.mail.example");
  assert.ok(typeof far === "object" && far.requiresTls && far.verifiesCertificate);
});

test("parameters override the defaults", () => {
  const settings = parseSmtpUrl(
    "smtp://relay.internal?requireTLS=false&tls.rejectUnauthorized=false&tls.servername=mx.example&name=id.example",
  );
  assert.ok(typeof settings === "object");
  assert.equal(settings.requiresTls, false);
  assert.equal(settings.verifiesCertificate, false);
  assert.equal(settings.servername, "mx.example");
  assert.equal(settings.name, "id.example");
});

test("rejects any other URL without repeating parts of it", () => {
  const broken = [
    "mail.example:25",
    "http://mail.example",
    "smtp://",
    "smtp://ada:secret@mail.example/path",
    "smtp://ada:secret@mail.example#part",
    "smtp://ada:secret@mail.example?logger=true",
    "smtp://ada:secret@mail.example?debug=true",
    "smtp://ada:secret@mail.example?requireTLS=yes",
    "smtp://ada:sec%ret@mail.example",
    "smtp://ada:secret@mail.example?name=a%0d%0aMAIL",
  ];
  for (const text of broken) {
    const fault = parseSmtpUrl(text);
    assert.ok(typeof fault === "string", text);
    assert.doesNotMatch(fault, /secret|ada/);
  }
});

test("a sender is an address with an optional name", () => {
  assert.deepEqual(parseSender("no-reply@acme.example"), { address: "no-reply@acme.example" });
  assert.deepEqual(parseSender("<no-reply@acme.example>"), { address: "no-reply@acme.example" });
  assert.deepEqual(parseSender('"Acme, Inc." <no-reply@acme.example>'), {
    address: "no-reply@acme.example",
    name: "Acme, Inc.",
  });
  for (const text of ["", "acme", "Acme <acme>", "a@b.example, c@d.example", "A\r\nBcc: x <a@b.example>"]) {
    assert.equal(parseSender(text), undefined, text);
  }
});

test("rejects addresses that programs parse differently", () => {
  for (const address of ["uma@acme.example", "u.m+a@acme.example", "ümå@äcme.example"])
    assert.ok(isMailable(address));
  const strange = [
    '"uma@evil.example x"@acme.example',
    "a,b@acme.example",
    "a;b@acme.example",
    "<a@acme.example",
    "a>@acme.example",
    "a(b)@acme.example",
    "a\\b@acme.example",
    "a@b@acme.example",
    "a@[127.0.0.1]",
    "a@acme.example\r\nBcc: b@acme.example",
  ];
  for (const address of strange) assert.equal(isMailable(address), false, address);
});
