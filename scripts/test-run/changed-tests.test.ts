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
  file("packages/server/src/core/users.ts"),
  file("packages/server/src/features/profile/profile.route.ts", "../../core/users.ts"),
  file("packages/server/src/features/health/health.route.ts"),
  file(
    "packages/server/src/app.ts",
    "./features/profile/profile.route.ts",
    "./features/health/health.route.ts",
  ),
  file("packages/server/src/testing/test-service.ts", "../app.ts", "../core/users.ts"),
  file("packages/server/src/features/profile/profile.route.test.ts", "../../testing/test-service.ts"),
  file("packages/server/src/features/health/health.route.test.ts", "../../testing/test-service.ts"),
];

test("chooses every test that loads a changed file, nearest first", () => {
  assert.deepEqual(testsReached(files, ["packages/a/src/rule.ts"]), [
    "packages/a/src/rule.test.ts",
    "packages/a/src/route.test.ts",
  ]);
});

test("chooses the tests beside code that a change reaches, though they load the whole service", () => {
  const profile = "packages/server/src/features/profile/profile.route.test.ts";
  assert.deepEqual(testsReached(files, ["packages/server/src/core/users.ts"]), [profile]);
});

test("chooses all tests of the whole service when what starts it changed", () => {
  for (const changed of ["packages/server/src/app.ts", "packages/server/src/testing/test-service.ts"])
    assert.deepEqual(testsReached(files, [changed]), [
      "packages/server/src/features/profile/profile.route.test.ts",
      "packages/server/src/features/health/health.route.test.ts",
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
