import assert from "node:assert/strict";
import { test } from "node:test";
import { formatDuration, formatLifetime, formatMoment } from "./format.ts";
import { messages, preferredLocales } from "./messages.ts";

test("the application's wish comes before the browser's, and the browser's are in order of quality", () => {
  assert.deepEqual(preferredLocales("fr-CA da", "de-CH;q=0.7, es, en;q=0.9"), [
    "fr-CA",
    "da",
    "es",
    "en",
    "de-CH",
  ]);
});

test("missing, refused and malformed wishes are left out", () => {
  assert.deepEqual(preferredLocales(), []);
  assert.deepEqual(preferredLocales("", ""), []);
  assert.deepEqual(preferredLocales("<script>", "*, de;q=0, en;q=x, fr ; q=0.5, ../en"), ["fr"]);
});

test("a long list from a stranger is cut short", () => {
  assert.equal(preferredLocales("en ".repeat(5_000), "de,".repeat(5_000)).length, 20);
});

test("a region is served by its language, and what is not translated by English", () => {
  assert.equal(messages(["EN-gb"]).locale, "en");
  assert.equal(messages(["tlh", "xx-YY"]).locale, "en");
  assert.equal(messages([]).locale, "en");
});

test("waiting times are rounded up to what a person waits by", () => {
  assert.equal(formatDuration("en", 0.2), "1 second");
  assert.equal(formatDuration("en", 89), "89 seconds");
  assert.equal(formatDuration("en", 700), "12 minutes");
  assert.equal(formatDuration("en", 7_201), "3 hours");
  assert.equal(formatDuration("de", 700), "12 Minuten");
});

test("lifetimes are told in whole days and hours where they are such", () => {
  assert.equal(formatLifetime("en", 604_800), "7 days");
  assert.equal(formatLifetime("en", 3_600), "1 hour");
  assert.equal(formatLifetime("de", 86_400), "1 Tag");
  assert.equal(formatLifetime("en", 5_000), "84 minutes");
});

test("a moment is shown in UTC", () => {
  assert.equal(formatMoment("en", 0).replace(/\s/g, " "), "Jan 1, 1970, 12:00:00 AM");
});
