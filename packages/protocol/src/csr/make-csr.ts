/** Makes a certificate signing request (PKCS #10, RFC 2986) without a subject: the CA of the organisation gives the name. */
import { createPublicKey, type KeyObject, sign } from "node:crypto";
import { derBitString, derInteger, derName, derSequence, derValue } from "../der/der-writer.ts";
import { type CsrSignatureName, csrSignatureAlgorithms } from "./csr-algorithms.ts";

export interface CsrInput {
  /** SubjectPublicKeyInfo, as DER. */
  readonly spki: Buffer;
  readonly algorithm: CsrSignatureName;
  /** Signs these bytes, hashing them first: ECDSA signatures as DER (RFC 3279 §2.2.3). */
  sign(bytes: Buffer): Promise<Buffer>;
}

/** For a key wherever it is, e.g. in a TPM. @returns DER */
export async function makeCsr({ spki, algorithm, sign }: CsrInput): Promise<Buffer> {
  const info = derSequence(derInteger(0), derName(), spki, derValue(0xa0));
  const { identifier } = csrSignatureAlgorithms[algorithm];
  return derSequence(info, identifier, derBitString(await sign(info)));
}

/** For a private key in memory. @returns DER. @throws TypeError for a kind of key that no CSR is taken of */
export async function makeKeyCsr(privateKey: KeyObject): Promise<Buffer> {
  const algorithm = algorithmOf(privateKey);
  const { digest } = csrSignatureAlgorithms[algorithm];
  return makeCsr({
    spki: createPublicKey(privateKey).export({ format: "der", type: "spki" }),
    algorithm,
    sign: async (bytes) => sign(digest, bytes, privateKey),
  });
}

/** 64 characters a line (RFC 7468 §2). */
export function csrPem(der: Buffer): string {
  const lines = der.toString("base64").match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE REQUEST-----\n${lines.join("\n")}\n-----END CERTIFICATE REQUEST-----\n`;
}

function algorithmOf({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): CsrSignatureName {
  if (asymmetricKeyType === "ed25519") return "ed25519";
  if (asymmetricKeyType === "rsa") return "rsa-sha256";
  if (asymmetricKeyType !== "ec") throw new TypeError("no request is made for a key of this kind");
  return asymmetricKeyDetails?.namedCurve === "secp384r1" ? "ecdsa-sha384" : "ecdsa-sha256";
}
