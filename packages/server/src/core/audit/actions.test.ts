import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { auditActions } from "./actions.ts";

const SERVER = join(import.meta.dirname, "../..");
/** They name every action, and write none. */
const LISTS = /\/(?:html\/messages|db\/migrations)\/|audit\/actions\.ts$|display-events/;

const AGENT = join(SERVER, "../../signing-agent/src");

const filesIn = async (folder: string): Promise<string[]> =>
  (await readdir(folder, { recursive: true }))
    .filter((name) => name.endsWith(".ts"))
    .map((name) => join(folder, name));

test("every audit action is recorded somewhere, and covered by a test", async () => {
  // Those of the signing agent run the real service.
  const places = await Promise.all([SERVER, AGENT].map(filesIn));
  const paths = places.flat().filter((path) => !LISTS.test(path));
  const texts = await Promise.all(paths.map(async (path) => [path, await readFile(path, "utf8")] as const));
  const isTest = (path: string) => path.endsWith(".test.ts") || path.includes("/testing/");
  const named = (inTests: boolean) => {
    const all = texts.filter(([path]) => isTest(path) === inTests).map(([, text]) => text);
    return new Set(all.join("\n").match(/(?<=[" ])[a-z-]+\.[a-z-]+(?=")/g));
  };
  const [inCode, inTests] = [named(false), named(true)];
  assert.deepEqual(
    auditActions.filter((action) => !inCode.has(action)),
    [],
    "nothing writes it",
  );
  assert.deepEqual(
    auditActions.filter((action) => !inTests.has(action)),
    [],
    "no test looks for it",
  );
});
