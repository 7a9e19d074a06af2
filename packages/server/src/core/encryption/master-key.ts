/** The master keys: from the configuration, or from files in the data folder, where the first one is made once. */
import { randomBytes } from "node:crypto";
import { open, stat } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import {
  folderKeyRing,
  MASTER_KEY_FILE,
  readFolderKeys,
  requireOwnership,
  UnreadableKeyFile,
} from "./folder-keys.ts";
import { type KeyRing, type Keys, keyRing, MASTER_KEY_BYTES } from "./key-ring.ts";

/** Where the keys are: as configured, and the folder for what is not. */
export interface MasterKeySource {
  /** 32 bytes; undefined: the one in the data folder. */
  readonly masterKey: Buffer | undefined;
  /** They still open and verify. */
  readonly previousMasterKeys: readonly Buffer[];
  readonly dataDir: string;
}

/**
 * @throws when others can read the file, when it or its folder belongs to another user or others can write to it, or when it
 * contains no key
 */
export async function loadMasterKeys(source: MasterKeySource): Promise<KeyRing> {
  const { masterKey, previousMasterKeys, dataDir } = source;
  if (masterKey) return keyRing(masterKey, ...previousMasterKeys);
  requireOwnership(dataDir, await stat(dataDir));
  await makeFirstKey(join(dataDir, MASTER_KEY_FILE));
  return withPrevious(folderKeyRing(dataDir, await readWhole(dataDir)), previousMasterKeys);
}

/** Reads the master keys without making one. @returns undefined when there is no key file @throws like loadMasterKeys */
export async function findMasterKeys(source: MasterKeySource): Promise<KeyRing | undefined> {
  const { masterKey, previousMasterKeys, dataDir } = source;
  if (masterKey) return keyRing(masterKey, ...previousMasterKeys);
  try {
    return withPrevious(folderKeyRing(dataDir, await readWhole(dataDir)), previousMasterKeys);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

async function makeFirstKey(path: string): Promise<void> {
  try {
    // `wx`: of two processes starting together, one makes the key and the other reads it.
    const file = await open(path, "wx", 0o600);
    await file.writeFile(`${randomBytes(MASTER_KEY_BYTES).toString("base64url")}\n`);
    await file.sync();
    await file.close();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}

async function readWhole(dataDir: string): Promise<Keys> {
  for (let attempt = 0; ; attempt++) {
    try {
      return readFolderKeys(dataDir);
    } catch (error) {
      if (!(error instanceof UnreadableKeyFile) || attempt >= 20) throw error;
      // Another process is writing it.
      await setTimeout(50);
    }
  }
}

function withPrevious(ring: KeyRing, previous: readonly Buffer[]): KeyRing {
  if (previous.length === 0) return ring;
  let from: Keys | undefined;
  let all: Keys | undefined;
  return {
    all: () => {
      const keys = ring.all();
      if (all === undefined || from !== keys) all = [...keys, ...previous];
      from = keys;
      return all;
    },
    refresh: () => ring.refresh(),
  };
}
