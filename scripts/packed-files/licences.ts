/** `THIRD-PARTY-LICENCES.txt`: who wrote what a package brings along, and under which licence, in full where they give the text. */
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import type { Lock } from "./shrinkwrap.ts";

export const LICENCES_FILE = "THIRD-PARTY-LICENCES.txt";

const rule = `\n${"-".repeat(80)}\n\n`;

/** @param places in the lock file @throws Error for one without a licence: nobody may hand it on */
export async function licencesOf(lock: Lock, root: string, places: readonly string[]): Promise<string> {
  const texts = await Promise.all(
    places.toSorted().map(async (place) => {
      const { version, license } = lock.packages[place] ?? {};
      const name = place.slice(place.lastIndexOf("node_modules/") + "node_modules/".length);
      if (!license) throw new Error(`${name} ${version} has no licence in package-lock.json`);
      const text = await licenceText(path.join(root, place));
      return `${name} ${version}\nLicence: ${license}\n${text === undefined ? "" : `\n${text.trim()}\n`}`;
    }),
  );
  const intro = "What this package needs of others, each under its own licence.\n";
  return [intro, ...texts].join(rule);
}

/** Undefined for packages of other platforms, which are not installed, and where the text is missing. */
async function licenceText(folder: string): Promise<string | undefined> {
  const files = await readdir(folder).catch(() => []);
  const file = files.toSorted().find((name) => /^(licen[cs]e|copying)(\.(md|txt))?$/i.test(name));
  return file === undefined ? undefined : readFile(path.join(folder, file), "utf8");
}
