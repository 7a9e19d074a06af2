/** A private key in a file of mode 0600: PKCS#8 in PEM. */
import { createPrivateKey, createPublicKey, generateKeyPair, sign } from "node:crypto";
import { promisify } from "node:util";
import { createPrivateFile, readPrivateFile, UnsafeFile } from "@signet/cli-runtime/private-file";
import type { DeviceKey } from "./open-device-key.ts";

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
