/** The master key: from the configuration, or from a file in the data directory that is created once. */
import { randomBytes } from "node:crypto";
import { open, readFile, realpath, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { ownershipFault } from "@signet/protocol/secret-file-rules";
import { MASTER_KEY_BYTES } from "./encryption.ts";

export const MASTER_KEY_FILE = "master.key";

/**
 * @returns 32 bytes
 * @throws when others can read the file, when it or its folder belongs to another user or others can write to it, or when it
 * contains no key
 */
export async function loadMasterKey(configured: Buffer | undefined, dataDir: string): Promise<Buffer> {
  if (configured) return configured;
  const path = join(dataDir, MASTER_KEY_FILE);
  await requireOwnership(dataDir);
  try {
    // `wx`: of two processes starting together, one creates the key and the other reads it.
    const file = await open(path, "wx", 0o600);
    const key = randomBytes(MASTER_KEY_BYTES);
    await file.writeFile(`${key.toString("base64url")}\n`);
    await file.sync();
    await file.close();
    return key;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
  return readKeyFile(path);
}

/** Reads the master key without creating it. @returns undefined when there is no key file @throws like loadMasterKey */
export async function findMasterKey(
  configured: Buffer | undefined,
  dataDir: string,
): Promise<Buffer | undefined> {
  if (configured) return configured;
  try {
    return await readKeyFile(join(dataDir, MASTER_KEY_FILE));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

async function readKeyFile(path: string): Promise<Buffer> {
  const { mode } = await stat(path);
  if ((mode & 0o077) !== 0)
    throw new Error(`${path} is readable by others: run chmod 600 on it, and treat the key as compromised`);
  for (const one of new Set([dirname(path), dirname(await realpath(path)), path]))
    await requireOwnership(one);
  for (let attempt = 0; attempt < 20; attempt++) {
    const key = Buffer.from((await readFile(path, "utf8")).trim(), "base64url");
    if (key.length === MASTER_KEY_BYTES) return key;
    // Another process is writing it.
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`${path} does not contain a master key of ${MASTER_KEY_BYTES} bytes`);
}

/** Whoever can replace the key can read what is encrypted from then on. */
async function requireOwnership(path: string): Promise<void> {
  const fault = ownershipFault(path, await stat(path), process.geteuid?.());
  if (fault !== undefined) throw new Error(fault);
}
