import assert from "node:assert/strict";
import { test } from "node:test";
import { networkOf } from "./network.ts";

test("an IPv4 address counts as itself, also IPv4-mapped", () => {
  assert.equal(networkOf("192.0.2.1"), "192.0.2.1");
  assert.equal(networkOf("::ffff:192.0.2.1"), "192.0.2.1");
});

test("a port added by a proxy is ignored", () => {
  assert.equal(networkOf("192.0.2.1:50123"), "192.0.2.1");
  assert.equal(networkOf("[2001:db8:0:1::5]:50123"), networkOf("2001:db8:0:1::9"));
  assert.equal(networkOf("[2001:db8:0:1::5]"), networkOf("2001:db8:0:1::9"));
});

test("addresses of an IPv6 /64 count as one, those of the next do not", () => {
  const network = networkOf("2001:db8:0:1::");
  for (const address of ["2001:db8:0:1::1", "2001:db8:0:1:ffff:ffff:ffff:ffff", "2001:db8:0:1:2:3:4:5"])
    assert.equal(networkOf(address), network, address);
  for (const address of ["2001:db8::1", "2001:db8:0:2::1", "2001:db8:1:1::1", "::1", "fe80::1"])
    assert.notEqual(networkOf(address), network, address);
  assert.equal(networkOf("::1"), "0:0:0:0::/64");
});
