import assert from "node:assert/strict";
import { test } from "node:test";
import { parseForm } from "@signet/protocol/form";
import fc from "fast-check";
import { toDurationText } from "../html/components/duration-input.ts";
import { readDurationText, readRows, toSeconds } from "./read-fields.ts";

test("a duration is shown in the largest unit without a rest, and read back as it was", () => {
  assert.deepEqual(toDurationText(5_400), { amount: "90", unit: "minutes" });
  assert.deepEqual(toDurationText(86_400), { amount: "1", unit: "days" });
  assert.deepEqual(toDurationText(0), { amount: "0", unit: "seconds" });
  fc.assert(
    fc.property(fc.nat(), (seconds) => {
      const { amount, unit } = toDurationText(seconds);
      const form = parseForm(new URLSearchParams({ life: amount, "life-unit": unit }).toString());
      assert.equal(toSeconds(readDurationText(form, "life")), seconds);
    }),
  );
});

test("a duration that is no whole number, or too large, is none", () => {
  for (const amount of ["", "1.5", "-1", "1e3", "9".repeat(13), "ten"])
    assert.equal(toSeconds({ amount, unit: "days" }), undefined, amount);
  const strange = parseForm("life=5&life-unit=constructor");
  assert.deepEqual(readDurationText(strange, "life"), { amount: "5", unit: "seconds" });
});

test("rows of a list are read in order, without the empty ones", () => {
  const all = (name: string) => (name === "uris" ? ["https://a.example", "", " https://b.example "] : []);
  assert.deepEqual(readRows({ all }, "uris"), ["https://a.example", "https://b.example"]);
  assert.deepEqual(readRows({ all }, "others"), []);
});
