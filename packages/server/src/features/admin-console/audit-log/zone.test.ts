import assert from "node:assert/strict";
import { test } from "node:test";
import { readFilterInput } from "./filter.ts";
import { beginsInZone, isZone } from "./zone.ts";

test("a day begins when it does there, also where clocks are changed that day", () => {
  for (const [day, zone, begins] of [
    ["2026-11-27", "UTC", "2026-11-27T00:00:00Z"],
    ["2026-11-27", "Europe/Berlin", "2026-11-26T23:00:00Z"],
    ["2026-07-01", "Europe/Berlin", "2026-06-30T22:00:00Z"],
    ["2026-11-27", "Asia/Kolkata", "2026-11-26T18:30:00Z"],
    ["2026-11-27", "Pacific/Kiritimati", "2026-11-26T10:00:00Z"],
    ["2026-11-27", "Pacific/Pago_Pago", "2026-11-27T11:00:00Z"],
    // Clocks go forward and back in the night of the day.
    ["2026-03-29", "Europe/Berlin", "2026-03-28T23:00:00Z"],
    ["2026-10-25", "Europe/Berlin", "2026-10-24T22:00:00Z"],
    ["2026-10-26", "Europe/Berlin", "2026-10-25T23:00:00Z"],
    ["2026-11-01", "America/New_York", "2026-11-01T04:00:00Z"],
    ["2026-11-02", "America/New_York", "2026-11-02T05:00:00Z"],
  ] as const)
    assert.equal(beginsInZone(Date.parse(day), zone), Date.parse(begins), `${day} ${zone}`);
});

test("whatever is no zone is UTC, and without days there is none", () => {
  for (const odd of ["", "Mars/Base", "Europe/Berlin'", "x".repeat(100), "../etc", "UTC"]) {
    const { zone } = readFilterInput(new Map(Object.entries({ from: "2026-01-01", zone: odd })));
    assert.equal(zone, "", odd);
  }
  assert.ok(!isZone("<b>"));
  const berlin = (days: Record<string, string>) =>
    readFilterInput(new Map(Object.entries({ zone: "Europe/Berlin", ...days }))).zone;
  assert.deepEqual([berlin({ to: "2026-01-01" }), berlin({})], ["Europe/Berlin", ""]);
});
