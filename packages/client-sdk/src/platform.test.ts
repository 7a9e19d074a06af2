import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { globSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";

const run = promisify(execFile);
const sources = import.meta.dirname;
const root = path.join(sources, "..", "..", "..");
const compiler = path.join(root, "node_modules", "typescript", "bin", "tsc");

/** They serve Node's own requests, and nothing else imports them. */
const forNode = ["express", "fastify", "node-body", "node-request"].map((name) => `adapters/${name}.ts`);

test("the core uses only Web standards and ES2023, nothing of Node", async (t) => {
  const files = globSync("**/*.ts", { cwd: sources }).filter(
    (file) => !file.endsWith(".test.ts") && !file.startsWith("testing/") && !forNode.includes(file),
  );
  assert.ok(files.includes("index.ts") && files.length > 20);
  const folder = await mkdtemp(path.join(os.tmpdir(), "signet-platform-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const configuration = {
    extends: path.join(root, "tsconfig.json"),
    compilerOptions: {
      // Node 20 has what ES2023 has, and no more. Workers have no page: no `window`, no `document`.
      lib: ["es2023", "webworker", "webworker.iterable", "webworker.asynciterable"],
      types: [],
      target: "es2023",
    },
    include: [],
    files: files.map((file) => path.join(sources, file)),
  };
  await writeFile(path.join(folder, "tsconfig.json"), JSON.stringify(configuration));
  const options = ["-p", folder, "--pretty", "false", "--listFiles", "--singleThreaded"];
  const { stdout } = await run(process.execPath, [compiler, ...options], { maxBuffer: 2 ** 24 }).catch(
    (error: { stdout?: string }) => ({ stdout: error.stdout ?? String(error) }),
  );
  assert.deepEqual(
    stdout.split("\n").filter((line) => /\berror TS\d+/.test(line)),
    [],
  );
  // Else Node's names would be known all the same.
  assert.deepEqual(
    stdout.split("\n").filter((line) => line.includes("@types/")),
    [],
  );
  assert.ok(stdout.includes("x5c-chain.ts"), "it has looked into what comes along from the protocol package");
});
