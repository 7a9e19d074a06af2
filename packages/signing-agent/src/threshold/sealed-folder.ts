/**
 * The agent's secrets of threshold keys on disk: each file is encrypted under a key that is in another file, which can be kept elsewhere
 * (a systemd credential, a TPM-sealed secret), so that a copy of the folder alone shows nothing.
 */
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { mkdir, open, rename, rm } from "node:fs/promises";
import path from "node:path";
import {
  createPrivateFile,
  PRIVATE,
  readPrivateFile,
  readSecretFile,
  replaceFile,
  syncFolder,
  undefinedIfMissing,
} from "@signet/cli-runtime/private-file";

export class UnreadableSecret extends Error {
  override name = "UnreadableSecret";
}

export interface SealedFolder {
  readonly folder: string;
  seal(name: string, value: unknown): string;
  /** @throws UnreadableSecret when it was changed, renamed, or sealed with another key */
  unseal(name: string, text: string): unknown;
  /** Undefined when there is no such file. */
  read(name: string): Promise<unknown>;
  /** Replaces the file, durably. */
  write(name: string, value: unknown): Promise<void>;
  /** Durably. */
  remove(name: string): Promise<void>;
  /** Also what stands on the disk, where the disk lets it. After a crash, `erase` what is named `ERASING…`. */
  erase(name: string): Promise<void>;
}

/** How a file's name begins while it is being erased: it is no secret any more, whole or not. */
export const ERASING = "erasing-";

const KEY_BYTES = 32;
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** @throws EEXIST: a key is never overwritten */
export const createSealingKey = (file: string): Promise<void> =>
  createPrivateFile(file, `${randomBytes(KEY_BYTES).toString("base64url")}\n`);

export async function openSealedFolder(options: {
  readonly folder: string;
  readonly sealingKeyFile: string;
}): Promise<SealedFolder> {
  const { folder, sealingKeyFile } = options;
  const key = Buffer.from(await readSecretFile(sealingKeyFile), "base64url");
  if (key.length !== KEY_BYTES) throw new UnreadableSecret(`${sealingKeyFile} is not a sealing key`);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const fileOf = (name: string) => path.join(folder, name);
  const seal = (name: string, value: unknown): string => {
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv("aes-256-gcm", key, iv).setAAD(Buffer.from(name));
    const sealed = Buffer.concat([cipher.update(JSON.stringify(value), "utf8"), cipher.final()]);
    return Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString("base64url");
  };
  const unseal = (name: string, text: string): unknown => {
    try {
      const bytes = Buffer.from(text.trim(), "base64url");
      const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, IV_BYTES), {
        authTagLength: TAG_BYTES,
      });
      decipher.setAAD(Buffer.from(name)).setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
      const opened = [decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES)), decipher.final()];
      return JSON.parse(Buffer.concat(opened).toString("utf8"));
    } catch (error) {
      throw new UnreadableSecret(`${fileOf(name)} was changed, or sealed with another key`, { cause: error });
    }
  };
  return {
    folder,
    seal,
    unseal,
    read: async (name) => {
      const text = await readPrivateFile(fileOf(name)).catch(undefinedIfMissing);
      return text === undefined ? undefined : unseal(name, text);
    },
    write: (name, value) => replaceFile(fileOf(name), `${seal(name, value)}\n`, PRIVATE),
    remove: async (name) => {
      await rm(fileOf(name), { force: true });
      await syncFolder(folder);
    },
    erase: async (name) => {
      const doomed = name.startsWith(ERASING) ? name : `${ERASING}${name}`;
      if (doomed !== name) {
        await rename(fileOf(name), fileOf(doomed)).catch(undefinedIfMissing);
        await syncFolder(folder);
      }
      await overwrite(fileOf(doomed));
      await rm(fileOf(doomed), { force: true });
      await syncFolder(folder);
    },
  };
}

/** With bytes that mean nothing. */
async function overwrite(file: string): Promise<void> {
  const handle = await open(file, "r+").catch(undefinedIfMissing);
  if (!handle) return;
  try {
    const { size } = await handle.stat();
    await handle.write(randomBytes(size), 0, size, 0);
    await handle.sync();
  } finally {
    await handle.close();
  }
}
