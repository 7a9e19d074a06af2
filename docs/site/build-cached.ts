/**
 * `node docs/site/build-cached.ts`: the site of a clone, made anew when a source of it has changed. Prints its folder. A server in
 * a clone runs it when somebody first opens the documentation.
 */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readdir, rename, rm, stat } from "node:fs/promises";
import path from "node:path";
import { buildDocumentation } from "./build.ts";
import { pages } from "./pages.ts";

const root = path.join(import.meta.dirname, "..", "..");
const cache = path.join(root, "node_modules", ".cache", "signet-site");

async function stateOfSources(): Promise<string> {
  const own = (await readdir(import.meta.dirname)).map((file) => path.join("docs/site", file));
  const files = [...pages.map(([file]) => `${file}.md`), ...own.sort(), "package-lock.json"];
  const hash = createHash("sha256");
  for (const file of files) {
    const { mtimeMs, size } = await stat(path.join(root, file));
    hash.update(`${file} ${mtimeMs} ${size}\n`);
  }
  return hash.digest("hex").slice(0, 16);
}

const name = await stateOfSources();
const site = path.join(cache, name);
if (!existsSync(site)) {
  await mkdir(cache, { recursive: true });
  const draft = path.join(cache, `draft-${process.pid}`);
  await buildDocumentation(draft);
  // In one step: another server reads all of it or nothing.
  await rename(draft, site).catch(() => rm(draft, { recursive: true }));
  for (const old of await readdir(cache))
    if (/^[0-9a-f]{16}$/.test(old) && old !== name) await rm(path.join(cache, old), { recursive: true });
}
console.log(site);
