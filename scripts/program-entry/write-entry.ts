/** Puts the files in a built package that its programs begin with: they say in a sentence when Node is too old. */
import { chmod, cp } from "node:fs/promises";
import path from "node:path";
import type { Manifest } from "../publishable-manifest.ts";

/** @param manifest of the built package, whose `bin` names the first file */
export async function writeEntry(dist: string, { bin = {} }: Pick<Manifest, "bin">): Promise<void> {
  for (const file of Object.values(bin)) {
    await cp(path.join(import.meta.dirname, "entry.cjs"), path.join(dist, file));
    await chmod(path.join(dist, file), 0o755);
    await cp(path.join(import.meta.dirname, "program.cjs"), path.join(dist, "program.cjs"));
  }
}
