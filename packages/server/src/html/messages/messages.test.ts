import assert from "node:assert/strict";
import { test } from "node:test";
import { formatOf } from "./format.ts";
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

const [english, german] = [formatOf("en"), formatOf("de")];

test("waiting times are rounded up to what a person waits by", () => {
  assert.equal(english.duration(0.2), "1 second");
  assert.equal(english.duration(89), "89 seconds");
  assert.equal(english.duration(700), "12 minutes");
  assert.equal(english.duration(7_201), "3 hours");
  assert.equal(german.duration(700), "12 Minuten");
});

test("lifetimes are told in whole days and hours where they are such", () => {
  assert.equal(english.lifetime(604_800), "7 days");
  assert.equal(english.lifetime(3_600), "1 hour");
  assert.equal(german.lifetime(86_400), "1 Tag");
  assert.equal(english.lifetime(5_000), "84 minutes");
});

test("days and times are shown in UTC, the English ones as the British write them", () => {
  const evening = Date.UTC(2026, 10, 22, 22, 3, 7);
  assert.equal(english.day(evening), "22 Nov 2026");
  assert.equal(english.minute(evening), "22 Nov 2026, 22:03 UTC");
  assert.equal(english.second(evening), "22 Nov 2026, 22:03:07 UTC");
  assert.equal(german.minute(evening), "22.11.2026, 22:03 UTC");
});

test("texts write their arguments as pages do, and have the plural of the number", () => {
  const { console, signIn, sessions } = messages(["en"]);
  assert.equal(sessions.used({ at: 0 }), `Last used ${english.minute(0)}`);
  assert.match(signIn.rateLimited({ seconds: 700 }), /Try again in 12 minutes\./);
  assert.equal(console.pools.rootCount({ count: 1 }), "1 certificate");
  assert.equal(console.pools.rootCount({ count: 1_500 }), "1,500 certificates");
  assert.equal(messages(["fr"]).console.pools.rootCount({ count: 0 }), "0 certificat");
});

test("an argument is never read as ICU or as markup", () => {
  const { places } = messages(["en"]);
  const name = "{x, plural, other {#}} <b>’'{'</b>";
  assert.equal(places.account({ organisation: name }), `your account at ${name}`);
});

test("a quoted brace in a text is one", () => {
  assert.match(messages(["en"]).console.users.faults.json, /starts with \{ and ends with \}/);
});
