import assert from "node:assert/strict";
import { test } from "node:test";
import { changedFiles, testsReached } from "./changed-tests.ts";

const file = (path: string, ...targets: string[]) => ({
  path,
  text: targets.map((target) => `import { x } from "${target}";\n`).join(""),
});

const files = [
  file("packages/a/src/rule.ts"),
  file("packages/a/src/rule.test.ts", "./rule.ts"),
  file("packages/a/src/route.ts", "./rule.ts", "./other.ts"),
  file("packages/a/src/route.test.ts", "./route.ts"),
  file("packages/a/src/other.ts"),
  file("packages/a/src/other.test.ts", "./other.ts"),
  { path: "packages/a/src/style.ts", text: `export const sheets = ["page.css"];` },
  file("packages/a/src/style.test.ts", "./style.ts"),
  file("e2e/journey.test.ts", "@signet/a/route"),
];

test("chooses every test that loads a changed file, nearest first", () => {
  assert.deepEqual(testsReached(files, ["packages/a/src/rule.ts"]), [
    "packages/a/src/rule.test.ts",
    "packages/a/src/route.test.ts",
  ]);
});

test("chooses a journey only when the journey itself changed", () => {
  assert.deepEqual(testsReached(files, ["e2e/journey.test.ts"]), ["e2e/journey.test.ts"]);
});

test("counts a changed asset as a change of the sources that name it", () => {
  assert.deepEqual(testsReached(files, ["packages/a/src/styles/page.css"]), ["packages/a/src/style.test.ts"]);
});

test("leaves out deleted tests, and chooses nothing for a change of the docs", () => {
  assert.deepEqual(testsReached(files, ["packages/a/src/gone.test.ts", "docs/security.md"]), []);
});

test("names the reference that git does not know", async () => {
  await assert.rejects(changedFiles("no-such-reference"), /no-such-reference/);
});
