/** A key that only its TPM can use: the file holds it encrypted by the TPM, under a parent that the TPM makes anew each time. */
import { publicKeyOf, readSizedPublic } from "@signet/protocol/tpm/public-area";
import { createPrivateFile, readPrivateFile, UnsafeFile } from "../state/private-file.ts";
import { permanentHandles } from "../tpm/command.ts";
import { createKey, type KeyBlobs, type LoadedKey, withLoaded, withPrimary } from "../tpm/objects.ts";
import { signWithTpm } from "../tpm/sign.ts";
import { deviceKeyTemplate, storageTemplate } from "../tpm/templates.ts";
import { type Tpm, withTpm } from "../tpm/tpm.ts";
import type { TpmPlace } from "../tpm/tpm-place.ts";
import type { DeviceKey } from "./device-key.ts";

/** @throws EEXIST when there is one */
export async function createTpmKey(
  place: TpmPlace,
  file: string,
  template = deviceKeyTemplate,
): Promise<void> {
  const blobs = await withTpm(place, (tpm) =>
    withStorageKey(tpm, (parent) => createKey(tpm, parent, template)),
  );
  await createPrivateFile(file, blobText(blobs));
}

export async function openTpmKey(place: TpmPlace, file: string): Promise<DeviceKey> {
  const blobs = await readBlobs(file);
  const publicKey = publicKeyOf(readSizedPublic(blobs.publicPart));
  return {
    privateKey: undefined,
    spki: publicKey.export({ format: "der", type: "spki" }),
    sign: (data) =>
      withTpm(place, (tpm) =>
        withStorageKey(tpm, (parent) => withLoaded(tpm, parent, blobs, (key) => signWithTpm(tpm, key, data))),
      ),
  };
}

/** The parent of all keys of this client. */
export const withStorageKey = <Result>(
  tpm: Tpm,
  use: (parent: LoadedKey) => Promise<Result>,
): Promise<Result> => withPrimary(tpm, { hierarchy: permanentHandles.owner, template: storageTemplate }, use);

const blobText = ({ publicPart, privatePart }: KeyBlobs): string =>
  `${JSON.stringify({ public: publicPart.toString("base64"), private: privatePart.toString("base64") }, null, 2)}\n`;

/** @throws UnsafeFile when others can read it, or it holds something else */
export async function readBlobs(file: string): Promise<KeyBlobs> {
  const text = await readPrivateFile(file);
  try {
    const { public: publicPart, private: privatePart } = JSON.parse(text) as Record<string, unknown>;
    if (typeof publicPart !== "string" || typeof privatePart !== "string") throw new TypeError("no key");
    return { publicPart: Buffer.from(publicPart, "base64"), privatePart: Buffer.from(privatePart, "base64") };
  } catch {
    throw new UnsafeFile(`${file} holds no key of a TPM`);
  }
}
