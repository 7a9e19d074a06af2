import assert from "node:assert/strict";
import { test } from "node:test";
import { runInNewContext } from "node:vm";
import { doubleSubmitScript } from "./scripts.ts";

type Listener = (event: { timeStamp: number; preventDefault(): void }) => void;

test("ignores the second click of a double click, but not a later one or one after going back", () => {
  const submits: Listener[] = [];
  const shows: Array<() => void> = [];
  const form = { addEventListener: (_: "submit", listener: Listener) => submits.push(listener) };
  runInNewContext(doubleSubmitScript.bytes.toString(), {
    document: { currentScript: { closest: (which: string) => (which === "form" ? form : null) } },
    addEventListener: (name: string, listener: () => void) => name === "pageshow" && shows.push(listener),
  });
  assert.equal(submits.length, 1);
  const isSentAt = (timeStamp: number) => {
    let isSent = true;
    const preventDefault = () => {
      isSent = false;
    };
    for (const listener of submits) listener({ timeStamp, preventDefault });
    return isSent;
  };
  assert.deepEqual([0, 200, 4_900, 5_100, 5_300].map(isSentAt), [true, false, false, true, false]);
  for (const show of shows) show();
  assert.equal(isSentAt(5_400), true);
});
