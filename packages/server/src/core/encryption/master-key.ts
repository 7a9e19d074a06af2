/** The master keys: from the configuration, or from files in the data folder, where the first one is made once. */
import { randomBytes } from "node:crypto";
import { open, stat } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { folderKeyRing, MASTER_KEY_FILE, requireOwnership, UnreadableKeyFile } from "./folder-keys.ts";
import { type KeyRing, type Keys, keyRing, MASTER_KEY_BYTES } from "./key-ring.ts";
import { openPkcs11Wrapping, type Pkcs11Location } from "./pkcs11-wrapping.ts";
import { type KeyWrapping, noWrapping, storedKeyText } from "./stored-key.ts";

/** Where the keys are: as configured, and the folder for what is not. */
export interface MasterKeySource {
  /** As it is kept (stored-key.ts); undefined: the one in the data folder. */
  readonly masterKey: Buffer | undefined;
  /** They still open and verify. */
  readonly previousMasterKeys: readonly Buffer[];
  /** The HSM's key that wraps them; undefined: they are in clear. */
  readonly masterKeyWrapping: Pkcs11Location | undefined;
  readonly dataDir: string;
}

/**
 * @throws when others can read the file, when it or its folder belongs to another user or others can write to it, or when it
 * contains no key
 */
export async function loadMasterKeys(source: MasterKeySource): Promise<KeyRing> {
  const { masterKey, dataDir } = source;
  const wrapping = await wrappingOf(source);
  const previous = source.previousMasterKeys.map(wrapping.unwrap);
  if (masterKey) return keyRing(wrapping.unwrap(masterKey), ...previous);
  requireOwnership(dataDir, await stat(dataDir));
  await makeFirstKey(join(dataDir, MASTER_KEY_FILE), wrapping);
  return withPrevious(await openFolderKeys(dataDir, wrapping), previous);
}

/** Reads the master keys without making one. @returns undefined when there is no key file @throws like loadMasterKeys */
export async function findMasterKeys(source: MasterKeySource): Promise<KeyRing | undefined> {
  const { masterKey, dataDir } = source;
  const wrapping = await wrappingOf(source);
  const previous = source.previousMasterKeys.map(wrapping.unwrap);
  if (masterKey) return keyRing(wrapping.unwrap(masterKey), ...previous);
  try {
    return withPrevious(await openFolderKeys(dataDir, wrapping), previous);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/** How they are kept. @throws when the HSM can't be used */
export const wrappingOf = async ({
  masterKeyWrapping,
}: Pick<MasterKeySource, "masterKeyWrapping">): Promise<KeyWrapping> =>
  masterKeyWrapping ? openPkcs11Wrapping(masterKeyWrapping) : noWrapping;

async function makeFirstKey(path: string, { wrap }: KeyWrapping): Promise<void> {
  try {
    // `wx`: of two processes starting together, one makes the key and the other reads it.
    const file = await open(path, "wx", 0o600);
    await file.writeFile(`${storedKeyText(wrap(randomBytes(MASTER_KEY_BYTES)))}\n`);
    await file.sync();
    await file.close();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}

async function openFolderKeys(dataDir: string, wrapping: KeyWrapping): Promise<KeyRing> {
  for (let attempt = 0; ; attempt++) {
    try {
      return folderKeyRing(dataDir, wrapping);
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
