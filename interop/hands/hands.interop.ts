/**
 * The journeys through the console, the account pages and the devices' pages, which `npm test` does by keyboard, by the other
 * hands (e2e/support/hand.ts): needs nothing that npm does not bring, only time.
 */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { test } from "node:test";
import type { HandName } from "../../e2e/support/hand.ts";
import { readFiles, repositoryRoot } from "../../scripts/source-files.ts";

/** A minute and a half on a quiet machine. */
const LONGEST_MS = 8 * 60_000;
/** There are 57 today: fewer would mean that they were not found. */
const LEAST_TESTS = 50;

const others: readonly Exclude<HandName, "keyboard">[] = ["mouse", "touch", "plain"];

const journeyFiles = (await readFiles(repositoryRoot, [".test.ts"]))
  .filter(({ path: file, text }) => file.startsWith("e2e/") && text.includes('/support/hand.ts"'))
  .map(({ path: file }) => file);

for (const hand of others)
  test(`every journey by ${hand}`, { timeout: LONGEST_MS + 30_000 }, async () => {
    // Within a test, node:test reports to the test around it.
    const { NODE_TEST_CONTEXT: _, ...env } = process.env;
    const child = spawn(process.execPath, [path.join(repositoryRoot, "scripts/test.ts"), ...journeyFiles], {
      cwd: repositoryRoot,
      timeout: LONGEST_MS,
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...env, SIGNET_TEST_HAND: hand, SIGNET_TEST_JOURNEYS: "sqlite" },
    });
    let output = "";
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (text: string) => {
        output += text;
      });
    const [code] = (await once(child, "close")) as [number | null];
    assert.equal(code, 0, output);
    const passed = Number(/^ℹ pass (\d+)/m.exec(output)?.[1]);
    assert.ok(passed >= LEAST_TESTS, `${passed} tests passed`);
  });
