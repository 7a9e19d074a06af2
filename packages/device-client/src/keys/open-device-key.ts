/** Keys by the way they are kept: in a file, or in a TPM. */
import path from "node:path";
import type { KeyKeeping } from "../state/device-record.ts";
import { readTpmPlace, type TpmPlace } from "../tpm/tpm-place.ts";
import type { DeviceKey } from "./device-key.ts";
import { createFileKey, openFileKey } from "./file-key.ts";
import { createTpmKey, openTpmKey } from "./tpm-key.ts";

/** A new one, in files of a generation. @throws Error with the reason, e.g. that the TPM cannot be opened */
export async function createDeviceKey(keeping: KeyKeeping, folder: string): Promise<void> {
  if (keeping.kind === "file") await createFileKey(path.join(folder, "key.pem"));
  else await createTpmKey(tpmOf(keeping), path.join(folder, "key.tpm"));
}

/** @throws Error when the files of that generation are not as they were written */
export async function openDeviceKey(keeping: KeyKeeping, folder: string): Promise<DeviceKey> {
  return keeping.kind === "file"
    ? await openFileKey(path.join(folder, "key.pem"))
    : await openTpmKey(tpmOf(keeping), path.join(folder, "key.tpm"));
}

export function tpmOf({ tpm = "" }: KeyKeeping): TpmPlace {
  const place = readTpmPlace(tpm);
  if (!place) throw new Error(`${JSON.stringify(tpm)} is no place of a TPM`);
  return place;
}
