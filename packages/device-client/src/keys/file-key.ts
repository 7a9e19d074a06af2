/** A key in a file of mode 0600: PKCS#8 in PEM. */
import { createPrivateKey, createPublicKey, generateKeyPair, sign } from "node:crypto";
import { promisify } from "node:util";
import { createPrivateFile, readPrivateFile, UnsafeFile } from "../state/private-file.ts";
import type { DeviceKey } from "./device-key.ts";

const generate = promisify(generateKeyPair);

/** @throws EEXIST when there is one */
export async function createFileKey(file: string): Promise<void> {
  const { privateKey } = await generate("ec", { namedCurve: "P-256" });
  await createPrivateFile(file, privateKey.export({ format: "pem", type: "pkcs8" }).toString());
}

/** @throws UnsafeFile when others can read it, or it holds no key on P-256 */
export async function openFileKey(file: string): Promise<DeviceKey> {
  const privateKey = createPrivateKey(await readPrivateFile(file));
  if (privateKey.asymmetricKeyDetails?.namedCurve !== "prime256v1")
    throw new UnsafeFile(`${file} holds no key on P-256`);
  return {
    privateKey,
    spki: createPublicKey(privateKey).export({ format: "der", type: "spki" }),
    sign: async (data) => sign("sha256", data, privateKey),
  };
}
