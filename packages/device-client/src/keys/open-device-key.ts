/** Creates and opens the device's key: in a file, or in a TPM. */
import path from "node:path";
import type { KeyStorage } from "../state/device-record.ts";
import { parseTpmLocation, type TpmLocation } from "../tpm/transport.ts";
import { createFileKey, type DeviceKey, openFileKey } from "./file-key.ts";
import { createTpmKey, openTpmKey } from "./tpm-key.ts";

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
