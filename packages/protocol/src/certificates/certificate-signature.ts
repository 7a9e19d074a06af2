/**
 * Whether one certificate was issued by another: names, key identifiers and the signature, which WebCrypto verifies (RFC 5280
 * §6.1.3 a). For server, browser and every runtime alike.
 */

import {
  areSameBytes,
  childrenOf,
  type DerElement,
  DerError,
  derTags,
  readDer,
  wholeBytesOf,
} from "../der/der.ts";
import {
  certifiedKeyOf,
  fitsMethod,
  positiveInteger,
  type SignatureMethod,
  signatureMethodOf,
} from "./certificate-algorithms.ts";
import type { CertificateContent } from "./certificate-content.ts";

/** Copies bytes into a buffer that WebCrypto accepts. */
export type PathCertificate = CertificateContent<Uint8Array<ArrayBuffer>>;

/** @returns false also for malformed or unsupported certificates */
export async function isCertifiedBy(certificate: PathCertificate, issuer: PathCertificate): Promise<boolean> {
  return namesIssuer(certificate, issuer) && (await hasSignatureOf(certificate, issuer));
}

/** OpenSSL's checks before the signature: the issuer name and the key identifiers. */
function namesIssuer({ issuer, issuerKey }: PathCertificate, above: PathCertificate): boolean {
  const isOther = (said: Uint8Array | undefined, is: Uint8Array | undefined): boolean =>
    said !== undefined && is !== undefined && !areSameBytes(said, is);
  return (
    areSameBytes(issuer, above.subject) &&
    !isOther(issuerKey.keyId, above.subjectKeyId) &&
    !isOther(issuerKey.serial, above.serial) &&
    !isOther(issuerKey.issuer, above.issuer)
  );
}

async function hasSignatureOf(certificate: PathCertificate, issuer: PathCertificate): Promise<boolean> {
  const { signatureAlgorithm, signed } = certificate;
  const method = signatureMethodOf(signatureAlgorithm);
  try {
    const key = certifiedKeyOf(issuer.keyInfo);
    if (!method || !key || !fitsMethod(key, method, signatureAlgorithm)) return false;
    const { kty, ...members } = key.jwk;
    const parameters = keyParameters(method, key.jwk.crv);
    const publicKey = await crypto.subtle.importKey("jwk", { kty, ...members }, parameters, false, [
      "verify",
    ]);
    const bytes = wholeBytesOf(certificate.signature);
    const signature = method.family === "ecdsa" ? bothNumbers(bytes, key.jwk.crv) : bytes;
    return await crypto.subtle.verify(verifyParameters(method), publicKey, signature, signed);
  } catch (error) {
    // A point that is not on its curve, an algorithm that this runtime has not: WebCrypto says so with a DOMException.
    if (error instanceof DerError || (error instanceof Error && isWebCryptoRefusal(error))) return false;
    throw error;
  }
}

const isWebCryptoRefusal = ({ name }: Error): boolean =>
  ["DataError", "NotSupportedError", "OperationError", "SyntaxError"].includes(name);

function keyParameters(
  method: SignatureMethod,
  crv = "",
): { name: string; hash?: string; namedCurve?: string } {
  switch (method.family) {
    case "ecdsa":
      return { name: "ECDSA", namedCurve: crv };
    case "rsa":
      return { name: "RSASSA-PKCS1-v1_5", hash: method.digest };
    case "rsa-pss":
      return { name: "RSA-PSS", hash: method.digest };
    case "ed25519":
      return { name: "Ed25519" };
  }
}

function verifyParameters(method: SignatureMethod): { name: string; hash?: string; saltLength?: number } {
  switch (method.family) {
    case "ecdsa":
      return { name: "ECDSA", hash: method.digest };
    case "rsa":
      return { name: "RSASSA-PKCS1-v1_5" };
    case "rsa-pss":
      return { name: "RSA-PSS", saltLength: method.saltLength };
    case "ed25519":
      return { name: "Ed25519" };
  }
}

const coordinateBytes: Readonly<Record<string, number>> = { "P-256": 32, "P-384": 48, "P-521": 66 };

/** r and s of an ECDSA signature, side by side as WebCrypto wants them. @param der Ecdsa-Sig-Value (RFC 3279 §2.2.3) */
function bothNumbers(der: Uint8Array<ArrayBuffer>, crv = ""): Uint8Array<ArrayBuffer> {
  const numbers: DerElement[] = childrenOf(readDer(der, derTags.sequence));
  const size = coordinateBytes[crv] ?? 0;
  const signature = new Uint8Array(2 * size);
  const [r, s] = numbers.map(positiveInteger);
  if (numbers.length !== 2 || !r || !s || r.length > size || s.length > size)
    throw new DerError("not a signature of this curve");
  signature.set(r, size - r.length);
  signature.set(s, 2 * size - s.length);
  return signature;
}
