/** Whether one certificate was issued by another: names, key identifiers, and the signature by WebCrypto (RFC 5280 §6.1.3 a). */
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
  coordinateBytes,
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
    const { crv = "" } = key.jwk;
    // One for import and verification: WebCrypto passes over the members that an algorithm doesn't have.
    const parameters = {
      name: webCryptoNames[method.family],
      namedCurve: crv,
      hash: "",
      saltLength: 0,
      ...method,
    };
    const publicKey = await crypto.subtle.importKey("jwk", { ...key.jwk }, parameters, false, ["verify"]);
    const bytes = wholeBytesOf(certificate.signature);
    const signature = method.family === "ecdsa" ? bothNumbers(bytes, crv) : bytes;
    return await crypto.subtle.verify(parameters, publicKey, signature, signed);
  } catch (error) {
    // A point that is not on its curve, an algorithm that this runtime has not: WebCrypto says so with a DOMException.
    if (error instanceof DerError || (error instanceof Error && isWebCryptoRefusal(error))) return false;
    throw error;
  }
}

const webCryptoNames: Readonly<Record<SignatureMethod["family"], string>> = {
  ecdsa: "ECDSA",
  rsa: "RSASSA-PKCS1-v1_5",
  "rsa-pss": "RSA-PSS",
  ed25519: "Ed25519",
};

const isWebCryptoRefusal = ({ name }: Error): boolean =>
  ["DataError", "NotSupportedError", "OperationError", "SyntaxError"].includes(name);

/**
 * r and s of an ECDSA signature, side by side as WebCrypto and JWS want them. @param der Ecdsa-Sig-Value (RFC 3279 §2.2.3)
 * @throws DerError
 */
export function bothNumbers(der: Uint8Array<ArrayBuffer>, crv: string): Uint8Array<ArrayBuffer> {
  const numbers: readonly DerElement[] = childrenOf(readDer(der, derTags.sequence));
  const size = coordinateBytes[crv] ?? 0;
  const signature = new Uint8Array(2 * size);
  const [r, s] = numbers.map(positiveInteger);
  if (numbers.length !== 2 || !r || !s || r.length > size || s.length > size)
    throw new DerError("not a signature of this curve");
  signature.set(r, size - r.length);
  signature.set(s, 2 * size - s.length);
  return signature;
}
