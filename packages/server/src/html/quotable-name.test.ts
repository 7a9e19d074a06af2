import assert from "node:assert/strict";
import { test } from "node:test";
import { quotableName } from "./quotable-name.ts";

test("names stay as they are", () => {
  for (const name of [
    "Acme",
    "Müller & Söhne KG",
    "Dr. Berg Optik",
    "St. Mary’s Hospital",
    "Studio 54",
    "3M",
    "Volvo Group (Göteborg)",
    "Yahoo!",
    "A.P. Møller",
    "A/S Dansk Shell",
    "École n° 12",
    "株式会社アクメ",
    "Universität Zürich, Institut für Informatik",
    "Class of 2026",
    "Ben’s iPhone 17",
    "Müller Ges. m.b.H.",
    "Smith and Sons Inc.",
    "Polka Dot Fashion",
    "Radio 538 Hilversum",
    "1 2 3 Schuhe",
  ])
    assert.equal(quotableName(name), name, name);
});

test("an address, a telephone number or a sentence is not repeated", () => {
  for (const name of [
    "evil.example",
    "Visit evil.example now",
    "https://evil.example/login",
    "hxxp://evil",
    "//evil/login",
    "www evil com",
    "evil . example",
    "evil\u3002example",
    "ｅｖｉｌ．ｅｘａｍｐｌｅ",
    "help@evil.example",
    "Write to @evil",
    "Acme\\evil",
    "Call +49 30 123456",
    "Hotline 0800-55-66-77",
    "call (030) 12.34.56",
    "１２３４５６７",
    "Call 70,10,20,30",
    "Call 70·10·20·30",
    "7️⃣0️⃣1️⃣0️⃣2️⃣0️⃣",
    "Call 1-800-FLOWERS",
    "192.0.2.1/login",
    "Go to 8.8.8.8",
    "evil[.]example",
    "evil ( . ) example",
    "evil dot com",
    "Your account is locked. Call us",
    "Your account is locked.",
    "Log in. Pay now",
    "Please call us now!",
    "Where is my money?",
    "Attention! Account locked",
    "Security alert: sign in again",
    "Locked?? Yes",
    "Please sign in today to keep your account from being deleted",
    "x".repeat(61),
    "Line one\nLine two",
    "Line one\u2028Line two",
    "",
    " \u200b ",
  ])
    assert.equal(quotableName(name), undefined, name);
});

test("a name can't leave its quotation marks, hide characters or turn the reading direction", () => {
  assert.equal(quotableName("Acme” invites you to „Bank"), "Acme invites you to Bank");
  assert.equal(quotableName("<b>Acme</b>"), "bAcme/b");
  assert.equal(quotableName("\u202eAc\u200bme\u0007"), "Acme");
  assert.equal(quotableName("  Acme \t Corp  "), "Acme Corp");
  assert.equal(quotableName("ev\u200bil.exam\u200bple"), undefined);
});
