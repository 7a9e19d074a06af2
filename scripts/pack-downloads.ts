/** `node scripts/pack-downloads.ts FOLDER`: the tarballs that a server in a clone serves, made when one is asked for first. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { build } from "./build.ts";
import { offeredPackages, packPrograms } from "./pack-programs.ts";

const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error("usage: node scripts/pack-downloads.ts FOLDER");
// Not `dist`: someone may build there now.
const into = await mkdtemp(path.join(tmpdir(), "signet-build-"));
try {
  await packPrograms(await build({ checksTypes: false, only: offeredPackages, into }), folder);
} finally {
  await rm(into, { recursive: true, force: true });
}
