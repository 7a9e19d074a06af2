import assert from "node:assert/strict";
import { test } from "node:test";
import { glossaryNames, lostWord } from "./lost-words.ts";

const faults = (path: string, text = "") => glossaryNames([{ path, text }]).map(({ message }) => message);

test("refuses a word that lost, wherever it stands in a name", () => {
  assert.match(lostWord("agentStanding") ?? "", /status, not standing/);
  assert.match(lostWord("StandingView") ?? "", /status, not standing/);
  assert.match(lostWord("whoIsThere") ?? "", /currentSession/);
  assert.deepEqual(faults("packages/a/src/signing-scene.ts"), [
    "signing-scene: the glossary says a fixture, not scene",
  ]);
  assert.equal(faults("packages/a/src/a.ts", "const pageDoor = 1;").length, 1);
});

test("accepts other words that merely contain a lost one, and what strings and comments say", () => {
  for (const name of ["outstanding", "indoor", "isStanding2".slice(0, 2), "currentSession"])
    assert.equal(lostWord(name), undefined, name);
  assert.deepEqual(faults("packages/a/src/a.ts", `// the standing\nconst a = "door";`), []);
});
