/** A key that only its TPM can use: the file holds it encrypted under a parent that the TPM derives each time. */

import { createPrivateFile, readPrivateFile, UnsafeFile } from "@signet/cli-runtime/private-file";
import { publicKeyOf, readSizedPublic } from "@signet/protocol/tpm/public-area";
import { permanentHandles } from "../tpm/command.ts";
import { createKey, type KeyBlobs, type LoadedKey, withLoaded, withPrimary } from "../tpm/objects.ts";
import { signWithTpm } from "../tpm/sign.ts";
import { deviceKeyTemplate, storageTemplate } from "../tpm/templates.ts";
import { type Tpm, withTpm } from "../tpm/tpm.ts";
import type { TpmLocation } from "../tpm/transport.ts";
import type { DeviceKey } from "./file-key.ts";

/** @throws EEXIST */
export async function createTpmKey(
  location: TpmLocation,
  file: string,
  template = deviceKeyTemplate,
): Promise<void> {
  const blobs = await withTpm(location, (tpm) =>
    withStorageKey(tpm, (parent) => createKey(tpm, parent, template)),
  );
  await createPrivateFile(file, formatBlobs(blobs));
}

export async function openTpmKey(location: TpmLocation, file: string): Promise<DeviceKey> {
  const blobs = await readTpmKeyFile(file);
  const publicKey = publicKeyOf(readSizedPublic(blobs.publicPart));
  return {
    privateKey: undefined,
    spki: publicKey.export({ format: "der", type: "spki" }),
    sign: (data) =>
      withTpm(location, (tpm) =>
        withStorageKey(tpm, (parent) => withLoaded(tpm, parent, blobs, (key) => signWithTpm(tpm, key, data))),
      ),
  };
}

/** The parent of all of this client's keys. */
export const withStorageKey = <Result>(
  tpm: Tpm,
  use: (parent: LoadedKey) => Promise<Result>,
): Promise<Result> => withPrimary(tpm, { hierarchy: permanentHandles.owner, template: storageTemplate }, use);

const formatBlobs = ({ publicPart, privatePart }: KeyBlobs): string =>
  `${JSON.stringify({ public: publicPart.toString("base64"), private: privatePart.toString("base64") }, null, 2)}\n`;

/** @throws UnsafeFile also when it holds something else */
export async function readTpmKeyFile(file: string): Promise<KeyBlobs> {
  const text = await readPrivateFile(file);
  try {
    const { public: publicPart, private: privatePart } = JSON.parse(text) as Record<string, unknown>;
    if (typeof publicPart !== "string" || typeof privatePart !== "string")
      throw new TypeError("not a TPM key");
    return { publicPart: Buffer.from(publicPart, "base64"), privatePart: Buffer.from(privatePart, "base64") };
  } catch {
    throw new UnsafeFile(`${file} is not a TPM key`);
  }
}
