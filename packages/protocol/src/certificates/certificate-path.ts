/**
 * Checks on each certificate of a path (RFC 5280 §6.1), shared by all path validators.
 * Platform-independent.
 */
import { signatureMethodOf } from "./certificate-algorithms.ts";
import { type CertificateContent, keyUsageBits } from "./certificate-content.ts";

/**
 * The fault of one certificate at any position in the path; undefined if it is valid.
 * @param now milliseconds
 * @param known OIDs of critical extensions that the caller looks at, as hexadecimal text
 */
export function certificateFault(
  certificate: CertificateContent,
  now: number,
  known: readonly string[] = [],
): string | undefined {
  return signatureMethodOf(certificate.signatureAlgorithm)
    ? anchorFault(certificate, now, known)
    : "is signed with an algorithm that is not accepted";
}

/** The fault of a trust anchor, whose own signature doesn't matter (RFC 5280 §6.1.1 d). */
export function anchorFault(
  certificate: CertificateContent,
  now: number,
  known: readonly string[] = [],
): string | undefined {
  if (!(certificate.validFrom <= now)) return "is not valid yet";
  if (!(certificate.validTo >= now)) return "has expired";
  if (certificate.hasNameConstraints) return "has name constraints, which are not supported";
  if (!certificate.otherCritical.every((oid) => known.includes(oid)))
    return "has a critical extension that is not supported";
  return undefined;
}

/**
 * Whether the certificate may issue others.
 * @param index its place in the path: so many certificates below it, the leaf excepted, must be allowed
 */
export function issuerFault(
  { isCa, keyUsage, pathLength }: CertificateContent,
  index: number,
): string | undefined {
  if (!isCa) return "is not a certificate authority";
  if (!keyUsage?.has(keyUsageBits.keyCertSign)) return "may not sign certificates";
  if (pathLength !== undefined && index - 1 > pathLength) return "does not allow a path of this length";
  return undefined;
}
