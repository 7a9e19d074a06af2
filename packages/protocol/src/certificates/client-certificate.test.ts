import assert from "node:assert/strict";
import { test } from "node:test";
import { derName, derOid, derSequence, derText, derValue } from "../der/der-writer.ts";
import { extension, type TestCertificateInput, testCertificate } from "../testing/test-certificate.ts";
import { readCertificate } from "./certificate.ts";
import {
  type ClientName,
  clientAuthorityFault,
  clientPathFault,
  hasClientName,
} from "./client-certificate.ts";
import { areSameNames, parseDistinguishedName, readDistinguishedName } from "./distinguished-name.ts";
import { addressBytes, isEmailName, isHostName } from "./general-names.ts";

const HOUR_MS = 3_600_000;
const usages = (...oids: string[]) => extension("551d25", derSequence(...oids.map(derOid)));
const SERVER_USAGE = "2b06010505070301";
const CLIENT_USAGE = "2b06010505070302";
/** Any content: it is refused unread. */
const nameConstraints = extension("551d1e", derSequence(), true);

const root = testCertificate({ subject: "Root", isCa: true });
const authority = (input: Partial<TestCertificateInput> = {}) =>
  testCertificate({ subject: "Between", isCa: true, issuer: root, ...input });
const leafOf = (issuer = root, input: Partial<TestCertificateInput> = {}) =>
  testCertificate({ subject: "Client", issuer, ...input });
const fault = (
  leaf: { readonly der: Buffer },
  others: readonly { readonly der: Buffer }[] = [],
  { anchors = [root], now = Date.now() } = {},
) =>
  clientPathFault({
    leaf: readCertificate(leaf.der),
    others: others.map(({ der }) => readCertificate(der)),
    anchors: anchors.map(({ der }) => readCertificate(der)),
    now,
  });
const noPath = "has no path to a trusted authority";

test("accepts a certificate of a trusted authority, with up to two certificates between", () => {
  assert.equal(fault(leafOf()), undefined);
  const one = authority();
  const two = authority({ subject: "Between two", issuer: one });
  const three = authority({ subject: "Between three", issuer: two });
  assert.equal(fault(leafOf(one), [one]), undefined);
  assert.equal(fault(leafOf(two), [one, two]), undefined, "in any order");
  assert.equal(fault(leafOf(two), [two, one, root]), undefined, "with the anchor itself");
  assert.equal(fault(leafOf(three), [three, two, one]), noPath, "a path of five");
  assert.equal(fault(leafOf(one), [one], { anchors: [one] }), undefined, "an authority between as anchor");
});

test("rejects a certificate of another authority, a missing or a forged link", () => {
  const other = testCertificate({ subject: "Root", isCa: true });
  assert.equal(fault(leafOf(other)), noPath, "of the same name");
  assert.equal(fault(leafOf(other), [other]), noPath, "which the client brings along");
  const between = authority();
  assert.equal(fault(leafOf(between)), noPath, "one is missing");
  assert.equal(fault(leafOf(root, { forger: other.privateKey })), noPath, "a forged signature");
  assert.equal(fault(leafOf(), [], { anchors: [] }), noPath);
  const self = testCertificate({ subject: "Client" });
  assert.equal(fault(self, [self]), noPath);
});

test("rejects what is not valid yet, and what has expired, at every place of the path", () => {
  const [early, late] = [new Date(Date.now() + HOUR_MS), new Date(Date.now() - HOUR_MS / 2)];
  assert.equal(fault(leafOf(root, { validFrom: early })), "is not valid yet");
  assert.equal(fault(leafOf(root, { validTo: late })), "has expired");
  for (const input of [{ validFrom: early }, { validTo: late }]) {
    const between = authority(input);
    assert.equal(fault(leafOf(between), [between]), noPath);
    const anchor = testCertificate({ subject: "Root", isCa: true, ...input });
    assert.equal(fault(leafOf(anchor), [], { anchors: [anchor] }), noPath);
  }
});

test("rejects an issuer that is no authority, or not for this", () => {
  const wrong: Partial<TestCertificateInput>[] = [
    { isCa: false },
    { keyUsage: [0] },
    { keyUsage: null },
    { more: [nameConstraints] },
    { more: [extension("551d24", derSequence(), true)] },
    { more: [usages(SERVER_USAGE)] },
    { digest: "sha1" },
  ];
  for (const input of wrong) {
    const between = authority(input);
    assert.equal(fault(leafOf(between), [between]), noPath, JSON.stringify(input));
  }
  const fine = authority({ more: [usages(SERVER_USAGE, CLIENT_USAGE)] });
  assert.equal(fault(leafOf(fine), [fine]), undefined);
});

test("keeps path lengths", () => {
  const short = testCertificate({ subject: "Root", isCa: true, pathLength: 0 });
  assert.equal(fault(leafOf(short), [], { anchors: [short] }), undefined);
  const between = authority({ issuer: short });
  assert.equal(fault(leafOf(between), [between], { anchors: [short] }), noPath);
  const one = authority({ pathLength: 0 });
  const two = authority({ subject: "Two", issuer: one });
  assert.equal(fault(leafOf(two), [two, one]), noPath);
});

test("accepts a leaf only that may sign for client authentication", () => {
  assert.equal(fault(leafOf(root, { isCa: true })), "is a certificate authority's");
  assert.equal(fault(leafOf(root, { keyUsage: [2] })), "may not make digital signatures");
  assert.equal(fault(leafOf(root, { keyUsage: null })), undefined, "any usage");
  assert.equal(fault(leafOf(root, { more: [usages(SERVER_USAGE)] })), "is not for client authentication");
  assert.equal(fault(leafOf(root, { more: [usages(CLIENT_USAGE)] })), undefined);
  assert.equal(fault(leafOf(root, { digest: "sha1" })), "is signed with an algorithm that is not accepted");
  const constrained = leafOf(root, { more: [nameConstraints] });
  assert.equal(fault(constrained), "has name constraints, which are not supported");
});

test("says why a certificate can be no trusted authority", () => {
  const of = (input: Partial<TestCertificateInput>, now = Date.now()) =>
    clientAuthorityFault(readCertificate(testCertificate({ subject: "CA", isCa: true, ...input }).der), now);
  assert.equal(of({}), undefined);
  assert.equal(of({ issuer: root }), undefined);
  assert.equal(of({ isCa: false }), "is not a certificate authority");
  assert.equal(of({ keyUsage: [0] }), "may not sign certificates");
  assert.equal(of({ more: [nameConstraints] }), "has name constraints, which are not supported");
  assert.equal(of({ more: [usages(SERVER_USAGE)] }), "is not for client authentication");
  assert.equal(of({}, Date.now() + 48 * HOUR_MS), "has expired");
  assert.equal(of({}, Date.now() - 48 * HOUR_MS), "is not valid yet");
});

const has = (input: Partial<TestCertificateInput>, name: ClientName) =>
  hasClientName(readCertificate(leafOf(root, input).der), name);

test("compares alternative names by their kind", () => {
  const input = {
    uris: ["https://client.example/id"],
    hosts: ["client.example", "*.wild.example"],
    addresses: ["192.0.2.7", "2001:db8::1"],
    emails: ["Ops@client.example"],
  };
  const right: ClientName[] = [
    { kind: "uri", value: "https://client.example/id" },
    { kind: "host", value: "CLIENT.example" },
    { kind: "address", value: "192.0.2.7" },
    { kind: "address", value: "2001:DB8:0:0:0:0:0:1" },
    { kind: "email", value: "Ops@CLIENT.example" },
  ];
  for (const name of right) assert.equal(has(input, name), true, name.value);
  const wrong: ClientName[] = [
    { kind: "uri", value: "https://client.example/ID" },
    { kind: "uri", value: "client.example" },
    { kind: "host", value: "https://client.example/id" },
    { kind: "host", value: "a.wild.example" },
    { kind: "host", value: "client.example.evil.example" },
    { kind: "host", value: "192.0.2.7" },
    { kind: "address", value: "192.0.2.70" },
    { kind: "address", value: "::192.0.2.7" },
    { kind: "address", value: "client.example" },
    { kind: "email", value: "ops@client.example" },
    { kind: "email", value: "client.example" },
  ];
  for (const name of wrong) assert.equal(has(input, name), false, `${name.kind} ${name.value}`);
});

const subjectOf = (...parts: ReadonlyArray<ReadonlyArray<readonly [string, Buffer]>>) =>
  derSequence(
    ...parts.map((part) => derValue(0x31, ...part.map(([type, value]) => derSequence(derOid(type), value)))),
  );
const printable = (text: string) => derValue(0x13, Buffer.from(text));
const same = (name: Buffer, text: string) => {
  const parsed = parseDistinguishedName(text);
  return parsed !== undefined && areSameNames(parsed, readDistinguishedName(name));
};

test("compares a subject as RFC 4514's structure, not as text", () => {
  // In DER the least specific part comes first.
  const name = subjectOf(
    [["550406", printable("DE")]],
    [["55040a", derText("Müller, Söhne + Co")]],
    [
      ["55040b", printable("Payments")],
      ["550403", derText(" #1  Client ")],
    ],
  );
  const rest = String.raw`O=Müller\, Söhne \+ Co,C=DE`;
  const right = [
    String.raw`CN=\ #1 Client+OU=Payments,${rest}`,
    String.raw`OU=Payments+CN=\#1 client,${rest}`,
    String.raw`ou=payments + cn=\#1 Client , o = M\C3\BCller\2C S\C3\b6hne \2b Co, C=de`,
    String.raw`2.5.4.11=Payments+2.5.4.3=\#1 Client,${rest}`,
    `OU=#13085061796d656e7473+CN=\\#1 Client,${rest}`,
  ];
  for (const text of right) assert.equal(same(name, text), true, text);
  const wrong = [
    String.raw`C=DE,O=Müller\, Söhne \+ Co,OU=Payments+CN=\#1 Client`,
    String.raw`OU=Payments,CN=\#1 Client,${rest}`,
    String.raw`OU=Payments+CN=\#1 Client,O=Müller\, Söhne \+ Co`,
    String.raw`OU=Payments+CN=\#1 Client,${rest},DC=x`,
    String.raw`OU=Payments+OU=Payments+CN=\#1 Client,${rest}`,
    `OU=Payments+CN=#1 Client,${rest}`,
    String.raw`OU=Payments+CN=\#1Client,${rest}`,
    String.raw`OU=Payments+CN=\#1 Client,O=Muller\, Söhne \+ Co,C=DE`,
    String.raw`OU=Payments+CN=\#1 Client,O=Müller,O=Söhne \+ Co,C=DE`,
    String.raw`ST=Payments+CN=\#1 Client,${rest}`,
  ];
  for (const text of wrong) assert.equal(same(name, text), false, text);
});

test("reads no part of a value as a part of the name", () => {
  const name = subjectOf([["550403", derText("x,O=Bank")]]);
  assert.equal(same(name, "CN=x,O=Bank"), false);
  assert.equal(same(name, String.raw`CN=x\,O=Bank`), true);
  const zero = subjectOf([["550403", derText("bank\0.evil")]]);
  assert.equal(same(zero, "CN=bank"), false);
  assert.equal(same(zero, String.raw`CN=bank\00.evil`), true);
  // Characters that look alike stay different: Fullwidth Latin, and the Kelvin sign, whose lower case is k.
  assert.equal(same(subjectOf([["550403", derText("ｂank")]]), "CN=bank"), false);
  assert.equal(same(subjectOf([["550403", derText("\u212a")]]), "CN=k"), false);
  // A TeletexString has no one meaning.
  assert.equal(same(subjectOf([["550403", derValue(0x14, Buffer.from("bank"))]]), "CN=bank"), false);
  const wide = subjectOf([["550403", derValue(0x1e, Buffer.from([0, 0x62, 0, 0x61]))]]);
  assert.equal(same(wide, "CN=ba"), true);
});

test("refuses texts that are no distinguished name", () => {
  const texts = [
    "",
    ",",
    "CN",
    "CN=",
    "CN= ",
    "CN=\\ ",
    "CN=x,",
    ",CN=x",
    "CN=x,,O=y",
    "CN=x+",
    "+CN=x",
    "CN=x\\",
    "CN=x;O=y",
  ];
  const more = ['CN="x"', "CN=<x>", "CN=\\zz", "CN=\\ff", "1.2.x=y", "3.1=x", "1.40=x", "01.2=x", "XX=y"];
  const hex = ["CN=#", "CN=#0", "CN=#0c05", "CN=#zz", "1=x", `CN=${"x".repeat(2_048)}`];
  for (const text of [...texts, ...more, ...hex])
    assert.equal(parseDistinguishedName(text), undefined, text.slice(0, 30));
  assert.equal(same(derSequence(), "CN=x"), false, "a certificate without a subject");
  assert.equal(same(derName("x"), "CN=x"), true);
});

test("takes host names, addresses and emails in their own forms only", () => {
  for (const host of ["client.example", "a-b.c", "localhost", "xn--mller-kva.example"])
    assert.equal(isHostName(host), true, host);
  for (const host of [
    "",
    "*.example",
    "a..b",
    "-a.b",
    "a-.b",
    "a b",
    "1.2.3.4",
    "x.".repeat(130),
    "ü.example",
  ])
    assert.equal(isHostName(host), false, host);
  for (const email of ["a@b.example", "a.b+c@d"]) assert.equal(isEmailName(email), true, email);
  for (const email of ["", "@", "a@", "@b", "a@b@c", "a b@c", "ü@b.example"])
    assert.equal(isEmailName(email), false, email);
  const hex = (text: string) => Buffer.from(addressBytes(text) ?? []).toString("hex");
  assert.equal(hex("192.0.2.1"), "c0000201");
  assert.equal(hex("::"), "00".repeat(16));
  assert.equal(hex("2001:db8::8:800:200c:417a"), "20010db80000000000080800200c417a");
  assert.equal(hex("::ffff:192.0.2.1"), `${"00".repeat(10)}ffffc0000201`);
  assert.equal(hex("1::"), `0001${"00".repeat(14)}`);
  for (const text of ["", "1.2.3", "fe80::1%eth0", "x::", "1.2.3.4/8"])
    assert.equal(addressBytes(text), undefined, text);
});
