/** `npm start` runs a bundle: the same program as the sources, made anew when one of them changes, with their names in its stacks. */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import {
  cp,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  utimes,
  writeFile,
} from "node:fs/promises";
import { SourceMap } from "node:module";
import os from "node:os";
import path from "node:path";
import { type TestContext, test } from "node:test";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";
import { EXTERNAL, type Made, makeBundle } from "./bundle.ts";
import { runCommand } from "./run-command.ts";
import { readFiles, repositoryRoot } from "./source-files.ts";
import { writeSourceTable } from "./source-table.ts";

type Prepare = NonNullable<typeof Error.prepareStackTrace>;
const positions = pathToFileURL(path.join(import.meta.dirname, "source-positions.mjs")).href;
const { stackOfSources } = (await import(positions)) as { stackOfSources(folder: string): Prepare };

async function someFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(path.join(os.tmpdir(), "signet-bundle-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/**
 * The repository once more, with the same libraries: a source that changes has every program that starts meanwhile make its bundle
 * anew, those of other tests too.
 */
async function copyOfRepository(t: TestContext): Promise<string> {
  const copy = path.join(await someFolder(t), "copy");
  for (const name of ["packages", "scripts", "package.json", "package-lock.json"])
    await cp(path.join(repositoryRoot, name), path.join(copy, name), {
      recursive: true,
      preserveTimestamps: true,
      filter: (file) => !["node_modules", "dist"].includes(path.basename(file)),
    });
  const packages = await readdir(path.join(copy, "packages"));
  for (const place of ["", ...packages.map((name) => path.join("packages", name))]) {
    const [libraries, linked] = [repositoryRoot, copy].map((root) => path.join(root, place, "node_modules"));
    if (libraries === undefined || linked === undefined || !existsSync(libraries)) continue;
    await mkdir(linked);
    for (const name of await readdir(libraries))
      if (name !== ".cache") await symlink(path.join(libraries, name), path.join(linked, name));
  }
  return copy;
}

test("does what the sources do, from the same bundle until a source changes; two that make it at once leave a whole one", async (t) => {
  const copy = await copyOfRepository(t);
  const folder = path.join(copy, "node_modules", ".cache", "signet");
  const readMade = async () => JSON.parse(await readFile(path.join(folder, "current.json"), "utf8")) as Made;
  const bundles = async () => (await readdir(folder)).filter((name) => /^[0-9a-f]{16}$/.test(name));
  const signet = (...args: string[]) =>
    runCommand(process.execPath, [path.join(copy, "scripts", "signet.mjs"), ...args]);

  const main = path.join(repositoryRoot, "packages", "server", "src", "main.ts");
  const fromSources = await runCommand(process.execPath, [main, "--help"]);
  for (const first of await Promise.all([signet("--help"), signet("--help")]))
    assert.deepEqual(
      [first.exitCode, first.stdout, first.stderr],
      [0, fromSources.stdout, fromSources.stderr],
    );
  const names = await bundles();
  const made = await readMade();
  assert.equal(names.length, 2);
  assert.ok(names.includes(made.name));
  assert.equal((await signet("no", "such", "command")).exitCode, 2);
  assert.equal((await readMade()).name, made.name);
  assert.ok(made.seen.length > 500, "its sources, and what else it depends on");
  for (const needed of ["package-lock.json", path.join("cli", "help.ts"), path.join("scripts", "bundle.ts")])
    assert.ok(
      made.seen.some(([file]) => file.endsWith(needed)),
      needed,
    );

  // A byte is a character where it is read: what a template says in UTF-8 would be other letters.
  const program = await readFile(path.join(folder, made.name, "program.js"), "latin1");
  assert.doesNotMatch(program, /[\u0080-\u00ff]/);
  assert.ok(program.includes("\\u2318K</kbd>"), "the command menu's key");

  const [other = ""] = names.filter((one) => one !== made.name);
  const longAgo = new Date(Date.now() - 25 * 3_600_000);
  await utimes(path.join(folder, other), longAgo, longAgo);
  const source = path.join(copy, "packages", "server", "src", "cli", "help.ts");
  const { atime, mtime } = await stat(source);
  await utimes(source, atime, new Date(mtime.getTime() + 1_000));
  assert.equal((await signet("--help")).stdout, fromSources.stdout);
  const { name } = await readMade();
  assert.notEqual(name, made.name);
  // What is older than a day goes; a server may still run what is younger.
  assert.deepEqual((await bundles()).toSorted(), [made.name, name].toSorted());
});

test("is not made where it can't be written", async (t) => {
  const file = path.join(await someFolder(t), "file");
  await writeFile(file, "");
  await assert.rejects(makeBundle(file));
});

/**
 * A CommonJS module may have a default export alone in the bundle, where Node finds names in it too: what takes a name
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
  await writeSourceTable(path.join(outdir, "thrower.js"));
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

test("every position of a bundle is where its source map has it", async (t) => {
  const outdir = path.join(await someFolder(t), "out");
  const entry = path.join(import.meta.dirname, "bundle.ts");
  await build({
    entryPoints: [entry],
    outdir,
    bundle: true,
    platform: "node",
    packages: "external",
    minify: true,
    format: "esm",
    sourcemap: true,
  });
  const file = path.join(outdir, "bundle.js");
  await writeSourceTable(file);
  const map = new SourceMap(JSON.parse(await readFile(`${file}.map`, "utf8")));
  const stackOf = stackOfSources(outdir);
  const lines = (await readFile(file, "utf8")).split("\n");
  let found = 0;
  for (const [line, text] of lines.entries())
    for (let column = 0; column < text.length; column += 7) {
      const place = `${pathToFileURL(file).href}:${line + 1}:${column + 1}`;
      const entry = map.findEntry(line, column);
      const isHere = "originalSource" in entry && entry.generatedLine === line;
      const expected = isHere
        ? `${path.resolve(outdir, entry.originalSource)}:${entry.originalLine + 1}:${entry.originalColumn + 1}`
        : place;
      const [, shown] = stackOf(new Error("here"), [place as unknown as NodeJS.CallSite]).split("    at ");
      assert.equal(shown, expected);
      if (isHere) found += 1;
    }
  assert.ok(found > 100, `${found} positions`);
});

/** Reading the map itself takes seconds, in which a server answers nobody: a server's stack needs only the table. */
test("the positions of a large bundle come without its source map", async (t) => {
  const outdir = await someFolder(t);
  const file = path.join(outdir, "large.js");
  const map = {
    version: 3,
    file: "",
    sourceRoot: "",
    sources: ["one.ts"],
    sourcesContent: [],
    names: [],
    mappings: Array(200_000).fill("IAAAA;AACA").join(","),
  };
  await writeFile(`${file}.map`, JSON.stringify(map));
  await writeSourceTable(file);
  await rm(`${file}.map`);
  const place = `${pathToFileURL(file).href}:70000:1` as unknown as NodeJS.CallSite;
  assert.match(stackOfSources(outdir)(new Error("here"), [place]), /one\.ts:70000:\d+$/);
});
