import assert from "node:assert/strict";
import { readdir } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import { publishArguments, releasedPackages, withRepository } from "./release.ts";
import { runCommand } from "./run-command.ts";
import { repositoryRoot } from "./source-files.ts";

test("nothing is published unless it is asked for, and then with provenance", () => {
  assert.ok(publishArguments("dist", false).includes("--dry-run"));
  const published = publishArguments("dist", true);
  assert.ok(published.includes("--provenance") && !published.includes("--dry-run"));
});

test("every package but the programs' own runtime is released, with the repository for its provenance", async () => {
  const folders = await readdir(path.join(repositoryRoot, "packages"));
  assert.deepEqual([...releasedPackages, "cli-runtime"].toSorted(), folders.toSorted());
  const manifest = { name: "@signet/server", version: "1.0.0", dependencies: {} };
  for (const url of ["https://git.example/acme/signet", "https://git.example/acme/signet.git"])
    assert.deepEqual(withRepository(manifest, url)["repository"], {
      type: "git",
      url: "git+https://git.example/acme/signet.git",
      directory: "packages/server",
    });
});

test("without the repository's address it ends with a sentence before it builds", async () => {
  const script = path.join(repositoryRoot, "scripts", "release.ts");
  const { exitCode, stderr } = await runCommand(process.execPath, [script, "--publish"]);
  assert.equal(exitCode, 2);
  assert.match(stderr, /--repository URL is required/);
});
