/** The file of a configuration that a command reads, and the exit code when an organisation is not as it says. */
import { createReadStream } from "node:fs";
import { MAX_FILE_BYTES } from "../../core/configuration/organisation-file.ts";
import { errorMessage } from "../output.ts";

/** For scripts that watch for drift, as `terraform plan -detailed-exitcode` does. */
export const DRIFT = 2;

/** Reads slightly beyond the limit, so that validation reports the excess; a pipe has no size to check. */
export async function readBounded(name: string): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const piece of name === "-" ? process.stdin : createReadStream(name)) {
      pieces.push(piece as Uint8Array);
      size += (piece as Uint8Array).length;
      if (size > MAX_FILE_BYTES) break;
    }
  } catch (error) {
    throw new Error(`--file ${name}: ${errorMessage(error)}`);
  }
  return Buffer.concat(pieces);
}
