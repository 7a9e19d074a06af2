import assert from "node:assert/strict";
import { test } from "node:test";
import { addressSpellings, canonicalAddress } from "./ip-address.ts";

test("addresses have one spelling", () => {
  const cases: Array<[string, string | undefined]> = [
    ["192.0.2.7", "192.0.2.7"],
    [" 192.0.2.7 ", "192.0.2.7"],
    ["2001:DB8:0:0:0:0:0:1", "2001:db8::1"],
    ["2001:db8::0001", "2001:db8::1"],
    ["[2001:db8::1]", "2001:db8::1"],
    ["fe80::1%eth0", "fe80::1"],
    ["::ffff:192.0.2.7", "192.0.2.7"],
    ["::FFFF:c000:207", "192.0.2.7"],
    ["::ffff:0:7", "0.0.0.7"],
    ["192.0.2", undefined],
    ["192.0.2.256", undefined],
    ["unknown", undefined],
    ["", undefined],
    ["2001:db8::1/64", undefined],
  ];
  for (const [text, address] of cases) assert.equal(canonicalAddress(text), address, text);
});

test("an address is looked for as it may have been stored", () => {
  assert.deepEqual(addressSpellings("192.0.2.7"), ["192.0.2.7", "::ffff:192.0.2.7"]);
  assert.deepEqual(addressSpellings("2001:db8::1"), ["2001:db8::1"]);
});
