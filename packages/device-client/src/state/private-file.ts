/** Files of the state folder: secrets refused when others may read them, and every one written whole or not at all. */
import { randomBytes } from "node:crypto";
import { link, open, readFile, rename, rm } from "node:fs/promises";
import path from "node:path";

export class UnsafeFile extends Error {
  constructor(message: string) {
    super(message);
    this.name = "UnsafeFile";
  }
}

const GROUP_AND_OTHERS = 0o077;
const MOST_BYTES = 65_536;
export const PRIVATE = 0o600;
export const PUBLIC = 0o644;

/**
 * The text of a file that only its owner may read.
 * @throws UnsafeFile when group or others have any right to it, or it is no plain file of at most 64 KiB
 */
export async function readPrivateFile(file: string): Promise<string> {
  const opened = await open(file, "r");
  try {
    // Of the file that is open, not of the name: nobody can put another one there in between.
    const { mode, size } = await opened.stat();
    if ((mode & 0o170000) !== 0o100000 || size > MOST_BYTES)
      throw new UnsafeFile(`${file} is no plain file of at most 64 KiB`);
    if ((mode & GROUP_AND_OTHERS) !== 0) {
      const is = (mode & 0o777).toString(8).padStart(4, "0");
      throw new UnsafeFile(`${file} can be read by others (mode ${is}): chmod 600 ${file}`);
    }
    return await opened.readFile("utf8");
  } finally {
    await opened.close();
  }
}

/**
 * Written beside it first and then put in its place, so that whoever reads sees the old text or the new one, and a power cut
 * leaves one of the two.
 */
export const replaceFile = (file: string, text: string | Buffer, mode: number): Promise<void> =>
  putWhole(file, { text, mode, put: rename });

/** As `replaceFile` for a file that must not be there yet: a key is never written over. @throws EEXIST */
export const createPrivateFile = (file: string, text: string): Promise<void> =>
  // A link takes no name that is taken, and follows none.
  putWhole(file, { text, mode: PRIVATE, put: link });

interface Whole {
  readonly text: string | Buffer;
  readonly mode: number;
  /** Gives the finished file its name. */
  readonly put: (beside: string, file: string) => Promise<void>;
}

async function putWhole(file: string, { text, mode, put }: Whole): Promise<void> {
  const beside = `${file}.${randomBytes(6).toString("hex")}.new`;
  try {
    const opened = await open(beside, "wx", mode);
    try {
      await opened.writeFile(text);
      await opened.sync();
    } finally {
      await opened.close();
    }
    await put(beside, file);
  } finally {
    await rm(beside, { force: true });
  }
  await syncFolder(path.dirname(file));
}

/** A rename is on the disk when its folder is. */
export async function syncFolder(folder: string): Promise<void> {
  const opened = await open(folder, "r");
  try {
    await opened.sync();
  } finally {
    await opened.close();
  }
}

/** @returns undefined when there is no such file */
export async function textOf(file: string): Promise<string | undefined> {
  return await readFile(file, "utf8").catch(undefinedWhenMissing);
}

export function undefinedWhenMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code === "ENOENT") return undefined;
  throw error;
}

/** The secret of a file: its first line. @throws UnsafeFile as `readPrivateFile`, and when it is empty */
export async function readSecretFile(file: string): Promise<string> {
  const [line = ""] = (await readPrivateFile(file)).split(/\r?\n/, 1);
  if (line.trim() === "") throw new UnsafeFile(`${file} is empty`);
  return line.trim();
}
