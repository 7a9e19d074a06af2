/** A certificate on Node: its parsed content, and node:crypto's X509Certificate for key and signature. */
import { X509Certificate } from "node:crypto";
import { type CertificateContent, readCertificateContent } from "./certificate-content.ts";

export interface Certificate extends CertificateContent<Buffer> {
  readonly x509: X509Certificate;
}

/** @throws Error for what is no certificate of version 3, or has an extension twice */
export function readCertificate(der: Buffer): Certificate {
  return { ...readCertificateContent(der), x509: new X509Certificate(der) };
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
