import assert from "node:assert/strict";
import { test } from "node:test";
import { addressRules, isAllowEntry } from "./address-rules.ts";

const none = addressRules([]);
const may = (address: string, rules = none, host = "host.example") => rules.mayConnect(address, host);

test("allows public addresses", () => {
  for (const address of ["1.1.1.1", "93.184.215.14", "172.32.0.1", "2606:4700::1111", "2a00:1450:4001::200e"])
    assert.ok(may(address), address);
});

test("rejects private, loopback, link-local, carrier, documentation, multicast and reserved IPv4 addresses", () => {
  const refused =
    "0.0.0.0 0.1.2.3 10.0.0.1 100.64.0.1 100.127.255.255 127.0.0.1 127.255.255.254 169.254.169.254 172.16.0.1 " +
    "172.31.255.255 192.0.0.192 192.0.2.1 192.88.99.1 192.168.1.1 198.18.0.1 198.19.255.255 198.51.100.1 203.0.113.1 " +
    "224.0.0.1 239.255.255.250 240.0.0.1 255.255.255.255";
  for (const address of refused.split(" ")) assert.ok(!may(address), address);
});

test("rejects non-global IPv6 addresses and those that embed IPv4", () => {
  const refused =
    ":: ::1 ::127.0.0.1 ::ffff:127.0.0.1 ::ffff:8.8.8.8 ::ffff:169.254.169.254 fc00::1 fd00:ec2::254 fe80::1 fec0::1 ff02::1 " +
    "100::1 2001::1 2001:0:4136:e378:8000:63bf:3fff:fdd2 2001:db8::1 2002:7f00:1::1 3fff::1 5f00::1 64:ff9b:1::1";
  for (const address of refused.split(" ")) assert.ok(!may(address), address);
});

test("judges a NAT64 address by its IPv4 address", () => {
  assert.ok(may("64:ff9b::8.8.8.8"));
  for (const inside of ["127.0.0.1", "10.1.2.3", "169.254.169.254", "0.0.0.0", "192.168.0.0"])
    assert.ok(!may(`64:ff9b::${inside}`), inside);
});

test("rejects non-addresses and addresses with a zone", () => {
  for (const address of ["", "localhost", "1.2.3", "2606:4700::1111%eth0", "fe80::1%1"])
    assert.ok(!may(address), address);
});

test("allows configured networks, addresses and hosts, and nothing else", () => {
  const rules = addressRules(["10.1.0.0/16", "fd00:1::/32", "127.0.0.1", "Hooks.Internal"]);
  for (const address of ["10.1.2.3", "fd00:1::5", "127.0.0.1", "::ffff:10.1.2.3"])
    assert.ok(may(address, rules), address);
  for (const address of ["10.2.0.1", "fd00:2::5", "127.0.0.2", "::1"])
    assert.ok(!may(address, rules), address);
  assert.ok(may("192.168.7.7", rules, "hooks.internal"));
  assert.ok(!may("192.168.7.7", rules, "x.hooks.internal"));
});

test("recognises loopback addresses", () => {
  for (const address of ["127.0.0.1", "127.9.9.9", "::1"]) assert.ok(none.isLoopback(address), address);
  for (const address of ["10.0.0.1", "1.1.1.1", "::2", "localhost"])
    assert.ok(!none.isLoopback(address), address);
});

test("entries of the allow list are addresses, networks and host names", () => {
  for (const entry of [
    "127.0.0.1",
    "10.0.0.0/8",
    "::1",
    "fd00::/8",
    "localhost",
    "hooks.internal",
    "a_b.example",
  ])
    assert.ok(isAllowEntry(entry), entry);
  for (const entry of [
    "10.0.0.0/33",
    "10.0.0.0/8/8",
    "10.0.0",
    "::1/129",
    "https://a.example",
    "a b",
    "",
    "-a",
    "*.example",
  ])
    assert.ok(!isAllowEntry(entry), entry);
});
