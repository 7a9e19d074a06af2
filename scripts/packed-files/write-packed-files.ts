/** Puts into a built package what tells which packages of others belong to it. */
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import type { BuiltManifest } from "../publishable-manifest.ts";
import { repositoryRoot } from "../source-files.ts";
import { billOfMaterials, SBOM_FILE } from "./bill-of-materials.ts";
import { LICENCES_FILE, licencesOf } from "./licences.ts";
import { type Lock, neededPackages, shrinkwrapOf } from "./shrinkwrap.ts";

export async function writePackedFiles(dist: string, folder: string, manifest: BuiltManifest): Promise<void> {
  const lock = JSON.parse(await readFile(path.join(repositoryRoot, "package-lock.json"), "utf8")) as Lock;
  const { dependencies, bundleDependencies = [] } = manifest;
  const names = Object.keys(dependencies).filter((name) => !bundleDependencies.includes(name));
  const needed = neededPackages(lock, folder, names);
  const places = needed.map(({ place }) => place);
  const write = (file: string, content: unknown) =>
    writeFile(
      path.join(dist, file),
      typeof content === "string" ? content : `${JSON.stringify(content, null, 2)}\n`,
    );
  await write(SBOM_FILE, billOfMaterials(lock, manifest, needed));
  await write(LICENCES_FILE, await licencesOf(lock, repositoryRoot, places));
  // Of a library, whoever installs it decides.
  if (manifest.bin) await write("npm-shrinkwrap.json", shrinkwrapOf(lock, folder, manifest));
}
