/** The private key of a CA generation: encrypted at rest, used through an asynchronous `sign` like a key in an HSM. */
import {
  createPrivateKey,
  createPublicKey,
  generateKeyPair,
  type KeyObject,
  sign as signBytes,
} from "node:crypto";
import { promisify } from "node:util";
import type { Database, Db } from "../../db/open.ts";
import type { Encryption } from "../encryption/encryption.ts";
import { sealedColumn } from "../encryption/sealed-columns.ts";
import { requireOpening, type TriedKeys, verifyStoredKeys } from "../encryption/stored-keys.ts";
import { listSealedCaKeys, type SealedCaKey } from "./device-ca.store.ts";

export interface CaKey {
  /** SubjectPublicKeyInfo, DER. */
  readonly spki: Buffer;
  readonly publicKey: KeyObject;
  /** ecdsa-with-SHA256 on the thread pool. @returns the DER form (RFC 3279 §2.2.3) */
  sign(bytes: Uint8Array): Promise<Buffer>;
}

/** Binds the ciphertext to its row: a key moved to another row can't be decrypted. */
const caKeyRow = (orgId: string, generation: number): string => `device-ca|${orgId}|${generation}`;

export const sealedCaKeys = sealedColumn({
  table: "device_ca",
  column: "private_key",
  key: ["org_id", "generation"],
  rowName: ({ org_id, generation }) => caKeyRow(String(org_id), Number(generation)),
});

const generate = promisify(generateKeyPair) as unknown as (
  type: "ec",
  options: { namedCurve: string },
) => Promise<{ privateKey: KeyObject }>;

/** @returns a new P-256 key, and its encrypted PKCS#8 */
export async function createCaKey(
  encryption: Encryption,
  row: { orgId: string; generation: number },
): Promise<{ key: CaKey; sealed: string }> {
  const { privateKey } = await generate("ec", { namedCurve: "P-256" });
  const pkcs8 = privateKey.export({ format: "der", type: "pkcs8" });
  const sealed = encryption.seal(pkcs8, caKeyRow(row.orgId, row.generation));
  pkcs8.fill(0);
  return { key: caKey(privateKey), sealed };
}

/** @throws when the ciphertext was altered or moved, or the master key differs */
export function openCaKey(
  encryption: Encryption,
  sealed: string,
  row: { orgId: string; generation: number },
): CaKey {
  const pkcs8 = encryption.open(sealed, caKeyRow(row.orgId, row.generation));
  const privateKey = createPrivateKey({ key: pkcs8, format: "der", type: "pkcs8" });
  pkcs8.fill(0);
  return caKey(privateKey);
}

function caKey(privateKey: KeyObject): CaKey {
  const publicKey = createPublicKey(privateKey);
  return {
    spki: publicKey.export({ format: "der", type: "spki" }),
    publicKey,
    sign: (bytes) =>
      new Promise((resolve, reject) => {
        signBytes("sha256", bytes, privateKey, (error, signature) => {
          if (error) reject(error);
          else resolve(signature);
        });
      }),
  };
}

const opener = (encryption: Encryption) => (sealed: SealedCaKey) =>
  encryption.open(sealed.private_key, caKeyRow(sealed.org_id, sealed.generation));

/** @throws when a stored key can't be decrypted */
export async function requireOpeningCaKey(db: Db, encryption: Encryption): Promise<void> {
  const [any] = await listSealedCaKeys(db, { limit: 1 });
  requireOpening(any, opener(encryption));
}

/** Tries to decrypt every stored key; changes nothing. */
export const tryStoredCaKeys = (
  { query }: Pick<Database, "query">,
  encryption: Encryption,
): Promise<TriedKeys> => verifyStoredKeys((page) => listSealedCaKeys(query, page), opener(encryption));
