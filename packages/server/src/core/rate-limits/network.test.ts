import assert from "node:assert/strict";
import { test } from "node:test";
import { networkPrefix } from "./rate-limits.ts";

test("an IPv4 address counts as itself, also IPv4-mapped", () => {
  assert.equal(networkPrefix("192.0.2.1"), "192.0.2.1");
  assert.equal(networkPrefix("::ffff:192.0.2.1"), "192.0.2.1");
});

test("a port added by a proxy is ignored", () => {
  assert.equal(networkPrefix("192.0.2.1:50123"), "192.0.2.1");
  assert.equal(networkPrefix("[2001:db8:0:1::5]:50123"), networkPrefix("2001:db8:0:1::9"));
  assert.equal(networkPrefix("[2001:db8:0:1::5]"), networkPrefix("2001:db8:0:1::9"));
});

test("addresses of an IPv6 /64 count as one, those of the next do not", () => {
  const network = networkPrefix("2001:db8:0:1::");
  for (const address of ["2001:db8:0:1::1", "2001:db8:0:1:ffff:ffff:ffff:ffff", "2001:db8:0:1:2:3:4:5"])
    assert.equal(networkPrefix(address), network, address);
  for (const address of ["2001:db8::1", "2001:db8:0:2::1", "2001:db8:1:1::1", "::1", "fe80::1"])
    assert.notEqual(networkPrefix(address), network, address);
  assert.equal(networkPrefix("::1"), "0:0:0:0::/64");
});

test("every spelling of an address counts as the same", () => {
  for (const address of ["::ffff:192.0.2.1", "::FFFF:c000:201", "0:0:0:0:0:ffff:192.0.2.1"])
    assert.equal(networkPrefix(address), "192.0.2.1", address);
  for (const address of ["2001:DB8:0:1::1", "2001:0db8:0000:0001:0:0:0:1", "2001:db8:0:1::1%eth0"])
    assert.equal(networkPrefix(address), "2001:db8:0:1::/64", address);
});

test("what is no address counts as it is", () => {
  for (const text of ["unknown", "", "a:b", ":::"]) assert.equal(networkPrefix(text), text);
});
