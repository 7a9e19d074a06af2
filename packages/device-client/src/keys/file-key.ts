/** A device's private key, P-256 so that it signs the same way everywhere; here in a file of mode 0600, PKCS#8 in PEM. */
import { createPrivateKey, createPublicKey, generateKeyPair, type KeyObject, sign } from "node:crypto";
import { promisify } from "node:util";
import { createPrivateFile, readPrivateFile, UnsafeFile } from "@signet/cli-runtime/private-file";

export interface DeviceKey {
  /** SubjectPublicKeyInfo, DER. */
  readonly spki: Buffer;
  /** Undefined when the key is in a TPM. */
  readonly privateKey: KeyObject | undefined;
  /** @returns ECDSA over SHA-256, DER */
  sign(data: Buffer): Promise<Buffer>;
}

const generate = promisify(generateKeyPair);

/** @throws EEXIST */
export async function createFileKey(file: string): Promise<void> {
  const { privateKey } = await generate("ec", { namedCurve: "P-256" });
  await createPrivateFile(file, privateKey.export({ format: "pem", type: "pkcs8" }).toString());
}

/** @throws UnsafeFile also when it is not a P-256 key */
export async function openFileKey(file: string): Promise<DeviceKey> {
  const privateKey = createPrivateKey(await readPrivateFile(file));
  if (privateKey.asymmetricKeyDetails?.namedCurve !== "prime256v1")
    throw new UnsafeFile(`${file} is not a P-256 key`);
  return {
    privateKey,
    spki: createPublicKey(privateKey).export({ format: "der", type: "spki" }),
    sign: async (data) => sign("sha256", data, privateKey),
  };
}
