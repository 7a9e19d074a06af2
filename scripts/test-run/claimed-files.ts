/** What a worker of a test run does: it takes one test file after the other, until there are none left (test-workers.ts). */
import assert from "node:assert/strict";
import { closeSync, openSync } from "node:fs";
import path from "node:path";
import { describe, test } from "node:test";
import { guardStatements } from "../../packages/server/src/testing/distribution/statement-guard.ts";
import { trackErrorsCheaply } from "./error-tracking.ts";

export interface Work {
  /** Name and address of each. */
  readonly files: readonly (readonly [string, string])[];
  /** Folder with a file for each that a worker has taken. */
  readonly claims: string;
  readonly maxAfterTestsMs: number;
}

export async function runClaimedFiles({ files, claims, maxAfterTestsMs }: Work): Promise<void> {
  const { declaring } = trackErrorsCheaply();
  const guard = await guardStatements();
  const opened = new Map<string, string[]>();
  for (const [index, [name, url]] of files.entries()) {
    if (!isClaimed(path.join(claims, String(index)))) continue;
    const before = openResources();
    declaring();
    await describe(name, () =>
      // Of a suite alone that cannot be loaded the summary would count nothing.
      import(url).catch((error: unknown) => {
        test("can be loaded", () => {
          throw error;
        });
      }),
    );
    for (const [kind, count] of openResources())
      if (count > (before.get(kind) ?? 0)) opened.set(kind, [...(opened.get(kind) ?? []), name]);
  }
  declaring();
  await describe("statements of the stores", () => {
    test("each names one organisation", () =>
      assert.deepEqual(
        guard.take(),
        [],
        "see packages/server/src/testing/distribution/crossing-functions.ts",
      ));
  });
  // What a test leaves open (a server, a timer) would keep the process, and with it the whole run, for ever: no timeout of
  // node:test ends a process whose tests are done.
  setTimeout(() => endForLeftovers(opened), maxAfterTestsMs).unref();
}

/** Of several workers one makes the file. */
function isClaimed(file: string): boolean {
  try {
    closeSync(openSync(file, "wx"));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

/** How many there are of each kind. */
function openResources(): Map<string, number> {
  const kinds = Map.groupBy(process.getActiveResourcesInfo(), (kind) => kind);
  return new Map([...kinds].map(([kind, all]) => [kind, all.length]));
}

/** @param opened by kind, the files after which there was more of it than before */
function endForLeftovers(opened: ReadonlyMap<string, readonly string[]>): never {
  for (const [kind, count] of openResources())
    console.error(`Still open: ${count} ${kind}, perhaps of ${(opened.get(kind) ?? ["none"]).join(", ")}`);
  process.exit(1);
}
