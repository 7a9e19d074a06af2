/** A private key in a PEM file of mode 0600. */
import { createPrivateKey, createPublicKey, generateKeyPair, type KeyObject, sign } from "node:crypto";
import { promisify } from "node:util";
import { type AgentAlg, agentAlgorithms } from "@signet/protocol/agent-signature";
import type { PublicKeyMembers } from "@signet/protocol/jose/jwk-members";
import { createPrivateFile, readPrivateFile } from "../private-file.ts";
import { algOfKey, InvalidKey, type KeySource } from "./key-source.ts";

/** @param alg needed only for RSA, where it is PS256 unless said otherwise */
export async function openPemKey(path: string, alg?: string): Promise<KeySource> {
  const text = await readPrivateFile(path);
  let privateKey: KeyObject;
  try {
    privateKey = createPrivateKey(text);
  } catch (error) {
    throw new InvalidKey(`${path} holds no private key in PEM that can be read without a password`, {
      cause: error,
    });
  }
  return memoryKey(privateKey, algOfKey(createPublicKey(privateKey), alg, path));
}

/** The source of a key that this process holds. */
export function memoryKey(privateKey: KeyObject, alg: AgentAlg): KeySource {
  const { digest, options } = agentAlgorithms[alg];
  return {
    publicJwk: createPublicKey(privateKey).export({ format: "jwk" }) as PublicKeyMembers,
    alg,
    sign: (bytes) =>
      new Promise((resolve, reject) => {
        // With a callback the signature is made on the thread pool.
        sign(digest, bytes, { key: privateKey, ...options }, (error, signature) =>
          error ? reject(error) : resolve(signature),
        );
      }),
  };
}

/** Makes a key of the alg and writes it to a new file of mode 0600. @throws EEXIST when there is a file */
export async function createPemKey(path: string, alg: AgentAlg): Promise<void> {
  const privateKey = await generatePrivateKey(alg);
  await createPrivateFile(path, privateKey.export({ type: "pkcs8", format: "pem" }).toString());
}

const RSA_BITS = 3072;
const generate = promisify(generateKeyPair);

export async function generatePrivateKey(alg: AgentAlg): Promise<KeyObject> {
  if (alg === "EdDSA") return (await generate("ed25519")).privateKey;
  const { namedCurve } = agentAlgorithms[alg];
  if (namedCurve !== undefined) return (await generate("ec", { namedCurve })).privateKey;
  return (await generate("rsa", { modulusLength: RSA_BITS })).privateKey;
}
