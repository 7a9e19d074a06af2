import assert from "node:assert/strict";
import { test } from "node:test";
import { beginsInZone, isZone } from "./zone.ts";

const begins = (day: string, zone: string): string => {
  const at = beginsInZone(Date.parse(day), zone);
  return new Date(at).toISOString().slice(0, 16);
};

test("a day begins at midnight there, also where clocks are changed on it", () => {
  const cases = [
    ["2027-01-31", "Europe/Copenhagen", "2027-01-30T23:00"],
    ["2027-01-31", "Asia/Kathmandu", "2027-01-30T18:15"],
    ["2027-03-28", "Europe/Copenhagen", "2027-03-27T23:00"],
    ["2027-10-31", "Europe/Copenhagen", "2027-10-30T22:00"],
    // Put back from one o'clock: midnight comes twice.
    ["2021-11-07", "America/Havana", "2021-11-07T04:00"],
    ["2021-10-29", "Asia/Amman", "2021-10-28T21:00"],
    // Put back from midnight: the evening before comes twice.
    ["2018-02-18", "America/Sao_Paulo", "2018-02-18T03:00"],
    ["2021-10-31", "Asia/Beirut", "2021-10-30T22:00"],
  ] as const;
  for (const [day, zone, at] of cases) assert.equal(begins(day, zone), at, `${day} ${zone}`);
});

test("a day without a midnight begins with its first hour: nothing of the evening before is in it, or missing there", () => {
  assert.equal(begins("2018-11-04", "America/Sao_Paulo"), "2018-11-04T03:00");
  assert.equal(begins("2021-03-28", "Asia/Beirut"), "2021-03-27T22:00");
  assert.equal(begins("2021-10-03", "America/Asuncion"), "2021-10-03T04:00");
});

test("what is no zone is none, and the first and last days have a time", () => {
  for (const text of ["", "+01:00", "Europe/Nowhere", "<b>", "a".repeat(70)])
    assert.equal(isZone(text), false, text);
  for (const day of ["0001-01-01", "9999-12-31"])
    for (const zone of ["Pacific/Kiritimati", "Pacific/Pago_Pago", "Europe/Amsterdam"])
      assert.ok(Number.isSafeInteger(beginsInZone(Date.parse(day), zone)), `${day} ${zone}`);
});
