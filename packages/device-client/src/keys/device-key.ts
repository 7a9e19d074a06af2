/** The device's private key, wherever it is: P-256, so that it signs the same everywhere. */
import type { KeyObject } from "node:crypto";
import { makeCsr } from "@signet/protocol/csr/make-csr";

export interface DeviceKey {
  /** SubjectPublicKeyInfo, as DER. */
  readonly spki: Buffer;
  /** Undefined when nobody but the TPM has it. */
  readonly privateKey: KeyObject | undefined;
  /** @returns ECDSA over SHA-256, as DER */
  sign(data: Buffer): Promise<Buffer>;
}

/** PKCS #10, as DER. */
export const requestFor = (key: DeviceKey): Promise<Buffer> =>
  makeCsr({ spki: key.spki, algorithm: "ecdsa-sha256", sign: key.sign });
