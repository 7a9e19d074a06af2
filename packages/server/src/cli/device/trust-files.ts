/** Reading certificate and key files for TPM trust, and SHA-256 arguments. */
import { readFileSync, statSync } from "node:fs";
import {
  MAX_TRUST_FILE_BYTES,
  readTrustFile,
  type TrustFile,
} from "../../features/device-identity/ek-trust/trust-file.ts";
import { UsageError } from "../command.ts";
import { errorMessage } from "../error-message.ts";

/** Maximum number of files of one command. */
export const MAX_FILES = 200;

/** @throws UsageError without a file, Error for an unreadable one */
export function readTrustFiles(paths: readonly string[]): TrustFile[] {
  if (paths.length === 0) throw new UsageError("a FILE is required");
  return paths.map((path) => readTrustFile(path, readBounded(path)));
}

function readBounded(path: string): Buffer {
  try {
    // Checked before reading: the path may name a block device.
    const status = statSync(path);
    if (!status.isFile()) throw new Error("not a file");
    if (status.size > MAX_TRUST_FILE_BYTES) throw new Error("the file is larger than 4 MiB");
    return readFileSync(path);
  } catch (error) {
    throw new Error(`${path}: ${errorMessage(error)}`);
  }
}

/** @param typed hexadecimal, with or without colons. @returns base64url. @throws UsageError */
export function parseSha256(typed: string | undefined): string {
  const hex = (typed ?? "").replaceAll(":", "");
  if (!/^[0-9a-f]{64}$/i.test(hex)) throw new UsageError("SHA256 is required, as shown by the list command");
  return Buffer.from(hex, "hex").toString("base64url");
}
