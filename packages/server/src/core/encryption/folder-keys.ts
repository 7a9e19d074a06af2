/**
 * The master keys in the data folder: `master.key` has the one in use, `master.key.previous` those before it, newest first. A
 * process that runs takes a new one over by itself.
 */
import { randomBytes } from "node:crypto";
import { readFileSync, realpathSync, type Stats, statSync } from "node:fs";
import { open, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { ownershipFault } from "@signet/protocol/secret-file-rules";
import { syncFolder } from "../sync-folder.ts";
import { type KeyRing, type Keys, MASTER_KEY_BYTES, MAX_KEYS } from "./key-ring.ts";
import { type KeyWrapping, noWrapping, readStoredKey, storedKeyText } from "./stored-key.ts";

export const MASTER_KEY_FILE = "master.key";
export const PREVIOUS_KEYS_FILE = "master.key.previous";

/** How long a process may go on with the keys it knows before it looks at the files again. */
export const LOOK_AGAIN_MS = 1_000;

/** The file doesn't hold what it should, which may be so for a moment: another process may be writing it. */
export class UnreadableKeyFile extends Error {}

/** @throws UnreadableKeyFile; ENOENT without `master.key`; and when others can read a file, or write to it or its folder */
export function readFolderKeys(dataDir: string, { unwrap }: KeyWrapping = noWrapping): Keys {
  // In this order: a key is added to the previous ones before another takes its place.
  const current = readKeyFile(join(dataDir, MASTER_KEY_FILE));
  const path = join(dataDir, PREVIOUS_KEYS_FILE);
  const previous = statSync(path, { throwIfNoEntry: false }) ? readKeyFile(path) : [];
  const [first, ...more] = current;
  if (first === undefined || more.length > 0)
    throw new UnreadableKeyFile(
      `${join(dataDir, MASTER_KEY_FILE)} does not contain a master key of ${MASTER_KEY_BYTES} bytes`,
    );
  const inUse = unwrap(first);
  return [inUse, ...previous.map(unwrap).filter((key) => !key.equals(inUse))];
}

/** @throws when it can't be read, see above */
export function folderKeyRing(dataDir: string, wrapping: KeyWrapping = noWrapping): KeyRing {
  // Before the keys are read: a file that takes its place meanwhile is looked at again.
  let seen = marksOf(dataDir);
  let keys = readFolderKeys(dataDir, wrapping);
  let lookedAt = performance.now();
  let refused: { readonly mark: string; readonly at: number } | undefined;
  // At once, whenever a key was missing: another process may have sealed with a new one a moment ago.
  const refresh = () => {
    lookedAt = performance.now();
    const mark = marksOf(dataDir);
    if (mark === seen) return false;
    if (mark === refused?.mark && lookedAt - refused.at < LOOK_AGAIN_MS) return false;
    const found = attempt(() => readFolderKeys(dataDir, wrapping));
    const [inUse] = keys;
    // A folder that lost the key in use would leave this process unable to read what it wrote: the next start says so.
    if (!found?.some((key) => key.equals(inUse))) {
      refused = { mark, at: lookedAt };
      return false;
    }
    seen = mark;
    keys = found;
    return true;
  };
  return {
    all: () => {
      if (performance.now() - lookedAt >= LOOK_AGAIN_MS) refresh();
      return keys;
    },
    refresh,
  };
}

/**
 * Puts a new master key in place of the one in use, which goes to the previous ones.
 * @throws when there are too many of those, or another process is doing the same; then nothing has changed
 */
export function replaceFolderKey(dataDir: string, wrapping: KeyWrapping = noWrapping): Promise<void> {
  return writeKeys(join(dataDir, MASTER_KEY_FILE), async () => {
    const keys = readFolderKeys(dataDir, wrapping);
    const previous = join(dataDir, PREVIOUS_KEYS_FILE);
    if (keys.length >= MAX_KEYS)
      throw new Error(
        `${previous} has ${keys.length - 1} keys already: remove the last lines, whose refresh tokens have ended`,
      );
    await writeKeys(previous, () => keys.map(wrapping.wrap));
    return [wrapping.wrap(randomBytes(MASTER_KEY_BYTES))];
  });
}

/** The same keys, kept as `wrapping` keeps them. */
export function wrapFolderKeys(dataDir: string, wrapping: KeyWrapping): Promise<void> {
  return writeKeys(join(dataDir, MASTER_KEY_FILE), async () => {
    const [inUse, ...previous] = readFolderKeys(dataDir, wrapping);
    if (previous.length > 0)
      await writeKeys(join(dataDir, PREVIOUS_KEYS_FILE), () => previous.map(wrapping.wrap));
    return [wrapping.wrap(inUse)];
  });
}

/**
 * Whole or not at all, also when the machine stops. `wx`: of two processes, one writes.
 * @param make what to write: called when nobody else can write any more, so that no key is lost that was written meanwhile
 */
async function writeKeys(
  path: string,
  make: () => readonly Buffer[] | Promise<readonly Buffer[]>,
): Promise<void> {
  const half = `${path}.new`;
  const file = await open(half, "wx", 0o600).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EEXIST") throw error;
    throw new Error(
      `${half} is there: another rotation is under way, or was interrupted (then delete that file)`,
    );
  });
  try {
    const keys = await make();
    await file.writeFile(keys.map((key) => `${storedKeyText(key)}\n`).join(""));
    await file.sync();
    await rename(half, path);
  } catch (error) {
    await rm(half, { force: true });
    throw error;
  } finally {
    await file.close();
  }
  await syncFolder(dirname(path));
}

/** @throws like `readFolderKeys` */
function readKeyFile(path: string): Buffer[] {
  const { mode } = statSync(path);
  if ((mode & 0o077) !== 0)
    throw new Error(`${path} is readable by others: run chmod 600 on it, and treat the key as compromised`);
  for (const one of new Set([dirname(path), dirname(realpathSync(path)), path]))
    requireOwnership(one, statSync(one));
  const keys = readFileSync(path, "utf8")
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "")
    .map(readStoredKey);
  if (!isWhole(keys))
    throw new UnreadableKeyFile(`${path} does not contain a master key of ${MASTER_KEY_BYTES} bytes`);
  return keys;
}

const isWhole = (keys: ReadonlyArray<Buffer | undefined>): keys is Buffer[] =>
  keys.length > 0 && !keys.includes(undefined);

/** Whoever can replace the key can read what is encrypted from then on. @throws */
export function requireOwnership(path: string, found: Stats): void {
  const fault = ownershipFault(path, found, process.geteuid?.());
  if (fault !== undefined) throw new Error(fault);
}

/** Other files at the same paths have other marks; removing a previous key ends it too. */
const marksOf = (dataDir: string): string =>
  [MASTER_KEY_FILE, PREVIOUS_KEYS_FILE]
    .map((name) => attempt(() => statSync(join(dataDir, name))))
    .map((found) => found && `${found.ino}.${found.mtimeMs}.${found.size}`)
    .join();

function attempt<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}
