/** The device's private key, wherever it is: P-256, so that it signs the same everywhere. */
import type { KeyObject } from "node:crypto";
import path from "node:path";
import { makeCsr } from "@signet/protocol/make-csr";
import type { KeyKeeping } from "../state/device-record.ts";
import { readTpmPlace, type TpmPlace } from "../tpm/transport.ts";
import { createFileKey, openFileKey } from "./file-key.ts";
import { createTpmKey, openTpmKey } from "./tpm-key.ts";

export interface DeviceKey {
  /** SubjectPublicKeyInfo, as DER. */
  readonly spki: Buffer;
  /** Undefined when nobody but the TPM has it. */
  readonly privateKey: KeyObject | undefined;
  /** @returns ECDSA over SHA-256, as DER */
  sign(data: Buffer): Promise<Buffer>;
}

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

/** PKCS #10, as DER. */
export const requestFor = (key: DeviceKey): Promise<Buffer> =>
  makeCsr({ spki: key.spki, algorithm: "ecdsa-sha256", sign: key.sign });
