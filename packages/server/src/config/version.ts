/** The version of this package, beside its sources as in what is built of them. */
import { readFileSync } from "node:fs";
import { findPackageJSON } from "node:module";

const manifest = findPackageJSON(import.meta.url);
if (manifest === undefined) throw new Error("the server's package.json is missing");

export const version: string = (JSON.parse(readFileSync(manifest, "utf8")) as { version: string }).version;
