/** A private key in a PEM file of mode 0600. */
import { createPrivateKey, createPublicKey, generateKeyPair, type KeyObject, sign } from "node:crypto";
import { promisify } from "node:util";
import { createPrivateFile, readPrivateFile } from "@signet/cli-runtime/private-file";
import { type AgentAlg, agentAlgorithms } from "@signet/protocol/agent-signature";
import type { PublicKeyMembers } from "@signet/protocol/jose/jwk-members";
import { isMlDsaAlg, type MlDsaAlg } from "@signet/protocol/jose/ml-dsa";
import { chooseAlg, InvalidKey, type KeySource } from "./key-source.ts";

/** @param alg only RSA keys have a choice: PS256 by default, or RS256 */
export async function openPemKey(path: string, alg?: string): Promise<KeySource> {
  const text = await readPrivateFile(path);
  let privateKey: KeyObject;
  try {
    privateKey = createPrivateKey(text);
  } catch (error) {
    throw new InvalidKey(`${path} is not an unencrypted private key in PEM`, { cause: error });
  }
  return memoryKey(privateKey, chooseAlg(createPublicKey(privateKey), alg, path));
}

/** A key in this process's memory. */
export function memoryKey(privateKey: KeyObject, alg: AgentAlg): KeySource {
  const { digest, options } = agentAlgorithms[alg];
  return {
    publicJwk: createPublicKey(privateKey).export({ format: "jwk" }) as PublicKeyMembers,
    alg,
    sign: (bytes) =>
      new Promise((resolve, reject) => {
        // With a callback, signing runs on the thread pool.
        sign(digest, bytes, { key: privateKey, ...options }, (error, signature) =>
          error ? reject(error) : resolve(signature),
        );
      }),
  };
}

/** Creates a key in a new file of mode 0600. @throws EEXIST */
export async function createPemKey(path: string, alg: AgentAlg): Promise<void> {
  const privateKey = await generatePrivateKey(alg);
  await createPrivateFile(path, privateKey.export({ type: "pkcs8", format: "pem" }).toString());
}

const RSA_BITS = 3072;
const generate = promisify(generateKeyPair);
/** @throws InvalidKey where the runtime has no ML-DSA */
export async function generatePrivateKey(alg: AgentAlg): Promise<KeyObject> {
  if (alg === "EdDSA") return (await generate("ed25519")).privateKey;
  if (isMlDsaAlg(alg)) return generateMlDsaKey(alg);
  const { namedCurve } = agentAlgorithms[alg];
  if (namedCurve !== undefined) return (await generate("ec", { namedCurve })).privateKey;
  return (await generate("rsa", { modulusLength: RSA_BITS })).privateKey;
}

async function generateMlDsaKey(alg: MlDsaAlg): Promise<KeyObject> {
  try {
    return (await generate(alg.toLowerCase() as Lowercase<MlDsaAlg>)).privateKey;
  } catch (error) {
    // Its OpenSSL decides, 3.5 or later.
    throw new InvalidKey(`Node ${process.version} has no ML-DSA: use 24.7 or later`, { cause: error });
  }
}
