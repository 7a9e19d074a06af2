/** Files that only their owner may read, each written whole or not at all. */
import { randomBytes } from "node:crypto";
import { link, open, readFile, realpath, rename, rm, stat } from "node:fs/promises";
import path from "node:path";
import { ownershipFault } from "@signet/protocol/secret-file-rules";
import { rememberSecret } from "./redact.ts";

export class UnsafeFile extends Error {
  override name = "UnsafeFile";
}

const GROUP_AND_OTHERS = 0o077;
const MAX_BYTES = 65_536;
export const PRIVATE = 0o600;
export const PUBLIC = 0o644;

/**
 * @throws UnsafeFile when group or others have any access, when it or its folder belongs to another user or others can write
 * there, or when it is not a regular file of at most 64 KiB
 */
export async function readPrivateFile(file: string): Promise<string> {
  const handle = await open(file, "r");
  try {
    // Checks the open file, not its name: nobody can swap it in between.
    const { mode, size, uid } = await handle.stat();
    if ((mode & 0o170000) !== 0o100000 || size > MAX_BYTES)
      throw new UnsafeFile(`${file} is not a regular file of at most 64 KiB`);
    if ((mode & GROUP_AND_OTHERS) !== 0) {
      const octal = (mode & 0o777).toString(8).padStart(4, "0");
      throw new UnsafeFile(`${file} can be read by others (mode ${octal}): chmod 600 ${file}`);
    }
    requireOwnership(file, { mode, uid });
    // The name's folder, and the one that a symbolic link leads to.
    for (const folder of new Set([path.dirname(file), path.dirname(await realpath(file))]))
      await requirePrivateFolder(folder);
    return await handle.readFile("utf8");
  } finally {
    await handle.close();
  }
}

/** @throws UnsafeFile when the folder belongs to another user, or others can write to it */
export async function requirePrivateFolder(folder: string): Promise<void> {
  requireOwnership(folder, await stat(folder));
}

function requireOwnership(name: string, found: { readonly uid: number; readonly mode: number }): void {
  const fault = ownershipFault(name, found, process.geteuid?.());
  if (fault !== undefined) throw new UnsafeFile(fault);
}

/** The first line of a private file; no log or error will show it. @throws UnsafeFile also when it is empty */
export async function readSecretFile(file: string): Promise<string> {
  const [line = ""] = (await readPrivateFile(file)).split(/\r?\n/, 1);
  if (line.trim() === "") throw new UnsafeFile(`${file} is empty`);
  return rememberSecret(line.trim());
}

/** Replaces a file atomically: readers, and a machine that loses power, have the old text or the new one. */
export const replaceFile = (file: string, text: string | Buffer, mode: number): Promise<void> =>
  writeWhole(file, text, mode, rename);

/** Creates a file of mode 0600 atomically. @throws EEXIST: a key is never overwritten. UnsafeFile, as reading it would */
export async function createPrivateFile(file: string, text: string): Promise<void> {
  await requirePrivateFolder(path.dirname(file));
  // Unlike a rename, a link replaces nothing and follows no symbolic link.
  await writeWhole(file, text, PRIVATE, link);
}

async function writeWhole(
  file: string,
  text: string | Buffer,
  mode: number,
  publish: (temporary: string, file: string) => Promise<void>,
): Promise<void> {
  const temporary = `${file}.${randomBytes(6).toString("hex")}.new`;
  try {
    const handle = await open(temporary, "wx", mode);
    try {
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await publish(temporary, file);
  } finally {
    await rm(temporary, { force: true });
  }
  await syncFolder(path.dirname(file));
}

/** A new name survives a power cut once its folder is synced. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  await handle.sync().finally(() => handle.close());
}

export const readIfPresent = (file: string): Promise<string | undefined> =>
  readFile(file, "utf8").catch(undefinedIfMissing);

export function undefinedIfMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code === "ENOENT") return undefined;
  throw error;
}
