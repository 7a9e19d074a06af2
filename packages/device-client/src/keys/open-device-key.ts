/** The device's private key, P-256 so that it signs the same way everywhere: in a file of mode 0600, or in a TPM. */
import { createPrivateKey, createPublicKey, generateKeyPair, type KeyObject, sign } from "node:crypto";
import path from "node:path";
import { promisify } from "node:util";
import { createPrivateFile, readPrivateFile, UnsafeFile } from "@signet/cli-runtime/private-file";
import { publicKeyOf, readSizedPublic } from "@signet/protocol/tpm/public-area";
import type { KeyStorage } from "../state/device-record.ts";
import { permanentHandles } from "../tpm/command.ts";
import {
  createKey,
  type KeyBlobs,
  type LoadedKey,
  signWithTpm,
  withLoaded,
  withPrimary,
} from "../tpm/objects.ts";
import { deviceKeyTemplate, storageTemplate } from "../tpm/templates.ts";
import { type Tpm, withTpm } from "../tpm/tpm.ts";
import { parseTpmLocation, type TpmLocation } from "../tpm/transport.ts";

export async function createDeviceKey(storage: KeyStorage, folder: string): Promise<void> {
  if (storage.kind === "file") await createFileKey(path.join(folder, "key.pem"));
  else await createTpmKey(requireTpm(storage), path.join(folder, "key.tpm"));
}

export async function openDeviceKey(storage: KeyStorage, folder: string): Promise<DeviceKey> {
  return storage.kind === "file"
    ? await openFileKey(path.join(folder, "key.pem"))
    : await openTpmKey(requireTpm(storage), path.join(folder, "key.tpm"));
}

export function requireTpm({ tpm = "" }: KeyStorage): TpmLocation {
  const location = parseTpmLocation(tpm);
  if (!location) throw new Error(`${JSON.stringify(tpm)} is not the location of a TPM`);
  return location;
}

export interface DeviceKey {
  /** SubjectPublicKeyInfo, DER. */
  readonly spki: Buffer;
  /** Undefined when the key is in a TPM. */
  readonly privateKey: KeyObject | undefined;
  /** @returns ECDSA over SHA-256, DER */
  sign(data: Buffer): Promise<Buffer>;
}

const generate = promisify(generateKeyPair);

async function createFileKey(file: string): Promise<void> {
  const { privateKey } = await generate("ec", { namedCurve: "P-256" });
  await createPrivateFile(file, privateKey.export({ format: "pem", type: "pkcs8" }).toString());
}

/** @throws UnsafeFile also when it is not a P-256 key */
async function openFileKey(file: string): Promise<DeviceKey> {
  const privateKey = createPrivateKey(await readPrivateFile(file));
  if (privateKey.asymmetricKeyDetails?.namedCurve !== "prime256v1")
    throw new UnsafeFile(`${file} is not a P-256 key`);
  return {
    privateKey,
    spki: createPublicKey(privateKey).export({ format: "der", type: "spki" }),
    sign: async (data) => sign("sha256", data, privateKey),
  };
}

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

async function openTpmKey(location: TpmLocation, file: string): Promise<DeviceKey> {
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
