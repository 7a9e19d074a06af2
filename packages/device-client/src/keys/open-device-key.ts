/** The device's private key, in a file or in a TPM. P-256, so that it signs the same way everywhere. */
import { createPrivateKey, createPublicKey, generateKeyPair, type KeyObject, sign } from "node:crypto";
import path from "node:path";
import { promisify } from "node:util";
import { createPrivateFile, readPrivateFile, UnsafeFile } from "@signet/cli-runtime/private-file";
import type { KeyStorage } from "../state/device-record.ts";
import { parseTpmLocation, type TpmLocation } from "../tpm/transport.ts";
import { createTpmKey, openTpmKey } from "./tpm-key.ts";

export interface DeviceKey {
  /** SubjectPublicKeyInfo, DER. */
  readonly spki: Buffer;
  /** Undefined when the key is in a TPM. */
  readonly privateKey: KeyObject | undefined;
  /** @returns ECDSA over SHA-256, DER */
  sign(data: Buffer): Promise<Buffer>;
}

/** A new key in the folder of a generation. */
export async function createDeviceKey(storage: KeyStorage, folder: string): Promise<void> {
  if (storage.kind === "file") await createFileKey(path.join(folder, "key.pem"));
  else await createTpmKey(requireTpm(storage), path.join(folder, "key.tpm"));
}

/** @throws Error when the generation's files were changed */
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

const generate = promisify(generateKeyPair);

/** @throws EEXIST */
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
