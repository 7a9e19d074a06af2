import assert from "node:assert/strict";
import { test } from "node:test";
import { html, render } from "../html.ts";
import { LOCALES, messages } from "../messages/messages.ts";
import { dayWithin, timeWithin } from "./relative-time.ts";

const AT = Date.UTC(2026, 10, 27, 10, 5);

test("a time within a text is an element of its own, in every language", () => {
  for (const locale of LOCALES) {
    const { console: texts, format } = messages([locale]);
    const text = texts.frame.lastChange({ who: "<b>Ada</b>", at: AT });
    const shown = render(html`${timeWithin(text, AT, format.minute)}`);
    assert.match(shown, /<time datetime="2026-11-27T10:05:00.000Z" data-exact>[^<]+<\/time>/, locale);
    assert.doesNotMatch(shown, /<b>/);
    assert.equal(
      shown.replaceAll(/<\/?time[^>]*>/g, ""),
      render(html`${text}`),
      "the words are as without it",
    );
  }
});

test("a text that says another time stays as it is", () => {
  const { format } = messages(["en"]);
  assert.equal(timeWithin("Yesterday", AT, format.minute), "Yesterday");
});

test("a day within a text is an element that scripts say as a date alone, in every language", () => {
  for (const locale of LOCALES) {
    const { security, format } = messages([locale]);
    const shown = render(html`${dayWithin(security.passkeys.added({ at: AT }), AT, format.day)}`);
    assert.match(shown, /<time datetime="2026-11-27T10:05:00.000Z" data-day>[^<:]+<\/time>/, locale);
  }
});
