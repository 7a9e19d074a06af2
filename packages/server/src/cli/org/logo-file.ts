/** Reads an organisation's logo from a PNG file; core/organisations/logo.ts validates the picture. */
import { readFileSync, statSync } from "node:fs";
import { logoUriOf, MAX_LOGO_BYTES, pngFault } from "../../core/organisations/logo.ts";
import { errorMessage } from "../error-message.ts";

/** @returns a data: URI. @throws Error naming the file */
export function readLogoFile(path: string): string {
  try {
    if (statSync(path).size > MAX_LOGO_BYTES) throw new Error("the file is larger than 8 KiB");
    const file = readFileSync(path);
    if (pngFault(file) === "logo-form") throw new Error("the file is not a PNG image");
    return logoUriOf(file);
  } catch (error) {
    throw new Error(`--logo ${path}: ${errorMessage(error)}`);
  }
}
