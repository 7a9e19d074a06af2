/** What each certificate of a path must be, one by one (RFC 5280 §6.1): shared by whoever follows paths to a trusted root. */
import { type Certificate, keyUsageBits } from "./certificate.ts";

/** SHA-2 with ECDSA or RSA, RSASSA-PSS, Ed25519: a collision of SHA-1 would be a certificate that nobody issued. */
const SIGNATURE_ALGORITHMS: ReadonlySet<string> = new Set([
  "2a8648ce3d040302",
  "2a8648ce3d040303",
  "2a8648ce3d040304",
  "2a864886f70d01010b",
  "2a864886f70d01010c",
  "2a864886f70d01010d",
  "2a864886f70d01010a",
  "2b6570",
]);

/**
 * What is wrong with one certificate of a path, whatever its place; undefined when nothing is.
 * @param now milliseconds
 * @param known OIDs of critical extensions that the caller looks at, as hexadecimal text
 */
export function certificateFault(
  certificate: Certificate,
  now: number,
  known: readonly string[] = [],
): string | undefined {
  return SIGNATURE_ALGORITHMS.has(certificate.signatureAlgorithm)
    ? anchorFault(certificate, now, known)
    : "is signed with an algorithm that is not accepted";
}

/** The same of one that is trusted by itself: nobody goes by how it is signed (RFC 5280 §6.1.1 d). */
export function anchorFault(
  certificate: Certificate,
  now: number,
  known: readonly string[] = [],
): string | undefined {
  const { x509 } = certificate;
  if (!(x509.validFromDate.getTime() <= now)) return "is not valid yet";
  if (!(x509.validToDate.getTime() >= now)) return "has expired";
  if (certificate.hasNameConstraints) return "has name constraints, which are not supported";
  if (!certificate.otherCritical.every((oid) => known.includes(oid)))
    return "has a critical extension that is not supported";
  return undefined;
}

/**
 * Whether it may stand above others.
 * @param index its place in the path: so many certificates below it, the leaf excepted, must be allowed
 */
export function issuerFault({ isCa, keyUsage, pathLength }: Certificate, index: number): string | undefined {
  if (!isCa) return "is not a certificate authority";
  if (!keyUsage?.has(keyUsageBits.keyCertSign)) return "may not sign certificates";
  if (pathLength !== undefined && index - 1 > pathLength) return "does not allow a path of this length";
  return undefined;
}

/** Names, key identifiers and signature. */
export function isIssuedBy(certificate: Certificate, issuer: Certificate): boolean {
  const { publicKey } = issuer.x509;
  const { modulusLength } = publicKey.asymmetricKeyDetails ?? {};
  return (
    certificate.issuer.equals(issuer.subject) &&
    (modulusLength === undefined || modulusLength >= 2048) &&
    certificate.x509.checkIssued(issuer.x509) &&
    certificate.x509.verify(publicKey)
  );
}
