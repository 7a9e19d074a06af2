/** An organisation's logo from a file: how large its picture may be is the core's to say (core/organisations/logo.ts). */
import { readFileSync, statSync } from "node:fs";
import { logoUriOf, MOST_LOGO_BYTES, pngFault } from "../../core/organisations/logo.ts";
import { reasonOf } from "../reason.ts";

/** @returns the address that has the picture in it. @throws Error naming the file */
export function readLogoFile(path: string): string {
  try {
    if (statSync(path).size > MOST_LOGO_BYTES) throw new Error("it is larger than 8 KiB");
    const file = readFileSync(path);
    if (pngFault(file) === "logo-form") throw new Error("it is no PNG");
    return logoUriOf(file);
  } catch (error) {
    throw new Error(`--logo ${path}: ${reasonOf(error)}`);
  }
}
