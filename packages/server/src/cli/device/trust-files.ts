/** The files that say which TPMs are believed, and the hashes by which what was in them is named. */
import { readFileSync, statSync } from "node:fs";
import {
  LARGEST_TRUST_FILE,
  readTrustFile,
  type TrustFile,
} from "../../features/device-identity/ek-trust/trust-file.ts";
import { UsageError } from "../command.ts";
import { reasonOf } from "../reason.ts";

/** Most files of one command. */
export const MOST_FILES = 200;

/** @throws UsageError without a file, Error for one that cannot be read */
export function trustFiles(paths: readonly string[]): TrustFile[] {
  if (paths.length === 0) throw new UsageError("name a file");
  return paths.map((path) => readTrustFile(path, bytesOf(path)));
}

function bytesOf(path: string): Buffer {
  try {
    // Before it is read: somebody may have named a disk.
    const status = statSync(path);
    if (!status.isFile()) throw new Error("it is not a file");
    if (status.size > LARGEST_TRUST_FILE) throw new Error("it is larger than 4 MiB");
    return readFileSync(path);
  } catch (error) {
    throw new Error(`${path}: ${reasonOf(error)}`);
  }
}

/** @param typed hexadecimal, with or without colons. @returns base64url. @throws UsageError */
export function hashOf(typed: string | undefined): string {
  const hex = (typed ?? "").replaceAll(":", "");
  if (!/^[0-9a-f]{64}$/i.test(hex)) throw new UsageError("name it by its SHA-256, as the list shows it");
  return Buffer.from(hex, "hex").toString("base64url");
}
