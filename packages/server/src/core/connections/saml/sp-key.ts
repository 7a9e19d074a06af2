/** The key that Signet has at a SAML identity provider: one for each connection, sealed at rest as a client secret is. */
import { createPrivateKey, createPublicKey, generateKeyPair, type KeyObject, sign } from "node:crypto";
import { promisify } from "node:util";
import {
  derBitString,
  derInteger,
  derName,
  derNull,
  derOid,
  derSequence,
  derValue,
} from "@signet/protocol/der/der-writer";
import { x509Time } from "../../device-ca/x509.ts";
import type { Encryption } from "../../encryption/encryption.ts";
import type { Connection } from "../connection.ts";
import { openSecret } from "../sign-in/client-secret.ts";

const MODULUS_BITS = 2_048;

/** Takes a while, in a thread of its own. @returns PKCS #8 in base64: one line, as every secret of a connection is */
export async function newServiceKey(): Promise<string> {
  const { privateKey } = await promisify(generateKeyPair)("rsa", { modulusLength: MODULUS_BITS });
  return privateKey.export({ format: "der", type: "pkcs8" }).toString("base64");
}

export function serviceKey(encryption: Encryption, connection: Connection): KeyObject {
  const key = openSecret(encryption, connection);
  if (key === undefined) throw new Error("the connection has no key");
  return createPrivateKey({ key: Buffer.from(key, "base64"), format: "der", type: "pkcs8" });
}

/** sha256WithRSAEncryption (RFC 8017 §A.2.4). */
const signatureAlgorithm = derSequence(derOid("2a864886f70d01010b"), derNull);
const DAY_MS = 86_400_000;
const YEARS_MS = 20 * 365 * DAY_MS;

/**
 * X.509, signed by itself: a holder of the key, which is what counts. The same one each time, and valid
 * from before it was made on: a provider whose clock is behind would refuse the first requests.
 * @returns DER
 */
export function serviceCertificate(
  key: KeyObject,
  { id, createdAt }: Pick<Connection, "id" | "createdAt">,
): Buffer {
  const name = derName(`Signet ${id}`);
  const content = derSequence(
    derValue(0xa0, derInteger(2)),
    derInteger(Buffer.from(`01${id.replaceAll("-", "").slice(0, 30)}`, "hex")),
    signatureAlgorithm,
    name,
    derSequence(x509Time(createdAt - DAY_MS), x509Time(createdAt + YEARS_MS)),
    name,
    createPublicKey(key).export({ format: "der", type: "spki" }),
  );
  return derSequence(content, signatureAlgorithm, derBitString(sign("sha256", content, key)));
}
