/** `npm start` runs a bundle: the same program as the sources, made anew when one of them changes, with their names in its stacks. */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, stat, utimes, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { type TestContext, test } from "node:test";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";
import { EXTERNAL, type Made, makeBundle } from "./bundle.ts";
import { runCommand } from "./run-command.ts";
import { readFiles, repositoryRoot } from "./source-files.ts";

type Prepare = NonNullable<typeof Error.prepareStackTrace>;
const positions = pathToFileURL(path.join(import.meta.dirname, "source-positions.mjs")).href;
const { stackOfSources } = (await import(positions)) as { stackOfSources(folder: string): Prepare };

const record = path.join(repositoryRoot, "node_modules", ".cache", "signet", "current.json");
const readMade = async (): Promise<Made> => JSON.parse(await readFile(record, "utf8")) as Made;
const signet = (...args: string[]) =>
  runCommand(process.execPath, [path.join(repositoryRoot, "scripts", "signet.mjs"), ...args]);

async function someFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(path.join(os.tmpdir(), "signet-bundle-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

test("does what the sources do, from the same bundle until a source changes", async () => {
  const main = path.join(repositoryRoot, "packages", "server", "src", "main.ts");
  const fromSources = await runCommand(process.execPath, [main, "--help"]);
  const first = await signet("--help");
  assert.deepEqual([first.exitCode, first.stdout, first.stderr], [0, fromSources.stdout, fromSources.stderr]);
  assert.equal((await signet("no", "such", "command")).exitCode, 2);
  const made = await readMade();
  await signet("--help");
  assert.equal((await readMade()).name, made.name);
  assert.ok(made.seen.length > 500, "its sources, and what else it depends on");
  for (const needed of ["package-lock.json", path.join("cli", "help.ts"), path.join("scripts", "bundle.ts")])
    assert.ok(
      made.seen.some(([file]) => file.endsWith(needed)),
      needed,
    );

  const source = path.join(repositoryRoot, "packages", "server", "src", "cli", "help.ts");
  const { atime, mtime } = await stat(source);
  await utimes(source, atime, new Date(mtime.getTime() + 1_000));
  try {
    assert.equal((await signet("--help")).stdout, first.stdout);
    assert.notEqual((await readMade()).name, made.name);
  } finally {
    await utimes(source, atime, mtime);
    // For the tests after this one.
    await signet("--help");
  }
});

test("two that make it at once leave a whole one; what is older than a day goes, unless it is named", async (t) => {
  const folder = await someFolder(t);
  const names = await Promise.all([makeBundle(folder), makeBundle(folder)]);
  const { name } = JSON.parse(await readFile(path.join(folder, "current.json"), "utf8")) as Made;
  assert.ok(names.includes(name));
  const [other = ""] = names.filter((one) => one !== name);
  const longAgo = new Date(Date.now() - 25 * 3_600_000);
  await utimes(path.join(folder, other), longAgo, longAgo);
  const third = await makeBundle(folder);
  assert.deepEqual(
    [other, name, third].map((one) => existsSync(path.join(folder, one, "main.js"))),
    [false, true, true],
  );
});

test("is not made where it can't be written", async (t) => {
  const file = path.join(await someFolder(t), "file");
  await writeFile(file, "");
  await assert.rejects(makeBundle(file));
});

/**
 * A CommonJS module is a chunk of the bundle with a default export alone, where Node finds names in it too: what takes a name
 * works in every test, which run the sources, and not in the server.
 */
test("a CommonJS library that is loaded when it is needed is asked for its default export", async () => {
  const sources = (await readFiles(path.join(repositoryRoot, "packages", "server", "src"), [".ts"])).filter(
    (file) => !file.path.endsWith(".test.ts"),
  );
  const asked = sources.flatMap(({ text }) => [
    ...text.matchAll(/\bimport\("([^."][^"]*)"\)(?!\)\.default\b)/g),
  ]);
  const names = [...new Set(asked.map(([, name = ""]) => name))].filter((name) => !EXTERNAL.includes(name));
  assert.ok(names.length > 1, "the server has such libraries");
  const { metafile } = await build({
    stdin: {
      contents: names.map((name) => `import(${JSON.stringify(name)});`).join("\n"),
      resolveDir: path.join(repositoryRoot, "packages", "server"),
    },
    ...{ bundle: true, format: "esm", platform: "node", external: EXTERNAL, write: false, metafile: true },
  });
  const imports = metafile.inputs["<stdin>"]?.imports ?? [];
  assert.equal(imports.length, names.length);
  const formats = imports.map(({ path: file, original }) => [original, metafile.inputs[file]?.format]);
  assert.deepEqual(
    formats.filter(([, format]) => format !== "esm"),
    [],
  );
});

test("a stack names the sources, and what is no part of the bundle as it is", async (t) => {
  const folder = await someFolder(t);
  const source = path.join(folder, "thrower.ts");
  await writeFile(
    source,
    "type Unused = 1;\n\nexport function fail(): never {\n  throw new Error('here');\n}\n",
  );
  const outdir = path.join(folder, "out");
  await build({ entryPoints: [source], outdir, format: "esm", minify: true, sourcemap: true });
  const { fail } = (await import(pathToFileURL(path.join(outdir, "thrower.js")).href)) as { fail(): never };
  const own = Error.prepareStackTrace;
  Error.prepareStackTrace = stackOfSources(outdir);
  try {
    assert.throws(fail, ({ stack = "" }: Error) => {
      assert.match(stack, /^Error: here\n/);
      assert.ok(stack.includes(`${source}:4:`), stack);
      assert.match(stack, /bundle\.test\.ts:\d+:\d+/);
      return true;
    });
  } finally {
    Error.prepareStackTrace = own;
  }
});
