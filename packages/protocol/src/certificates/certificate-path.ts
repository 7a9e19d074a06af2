/** Checks on each certificate of a path (RFC 5280 §6.1), shared by all path validators. Platform-independent. */
import { signatureMethodOf } from "./certificate-algorithms.ts";
import { type CertificateContent, keyUsageBits } from "./certificate-content.ts";

/** The fault of one certificate. @param now milliseconds. @param known critical extensions that the caller checks: OIDs in hex */
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

/** Why it may not issue others. @param index in the path: how many certificates are below it, the leaf included */
export function issuerFault(
  { isCa, keyUsage, pathLength }: CertificateContent,
  index: number,
): string | undefined {
  if (!isCa) return "is not a certificate authority";
  if (!keyUsage?.has(keyUsageBits.keyCertSign)) return "may not sign certificates";
  if (pathLength !== undefined && index - 1 > pathLength) return "does not allow a path of this length";
  return undefined;
}
