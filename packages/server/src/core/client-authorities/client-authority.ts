/**
 * A certificate authority that an organisation trusts for its clients (RFC 8705 §2.1): a certificate of it authenticates a client
 * whose registered name it has. Beside the organisation's own device CA.
 */
import { type Certificate, readCertificate } from "@signet/protocol/certificates/certificate";
import { clientAuthorityFault } from "@signet/protocol/certificates/client-certificate";
import { certificateInPem, pemOfCertificate } from "@signet/protocol/der/pem";
import { sha256Base64url } from "@signet/protocol/hash";
import type { RecordOf } from "../../db/records.ts";
import type { ClientAuthorityTable } from "../../db/tables/applications.ts";

export interface ClientAuthority extends Omit<RecordOf<ClientAuthorityTable>, "enabled"> {
  readonly enabled: boolean;
}

export type ClientAuthorityKey = Pick<ClientAuthority, "orgId" | "id">;

export const MAX_CLIENT_AUTHORITIES = 50;
/** As PEM. */
export const MAX_CERTIFICATE_LENGTH = 24_000;
const MAX_SUBJECT_LENGTH = 300;

export type InvalidAuthorityCode = "name" | "certificate" | "device-ca" | "duplicate" | "too-many";

export class InvalidClientAuthority extends Error {
  override readonly name = "InvalidClientAuthority";
  readonly code: InvalidAuthorityCode;
  constructor(code: InvalidAuthorityCode, message: string) {
    super(message);
    this.code = code;
  }
}

/** What is stored of the certificate. */
export type AuthorityCertificate = Pick<
  ClientAuthority,
  "certificate" | "fingerprint" | "subject" | "subjectHash" | "notAfter"
>;

/** @param pem one certificate, and nothing else. @param now milliseconds. @throws InvalidClientAuthority */
export function readAuthority(
  pem: string,
  now: number,
): AuthorityCertificate & { readonly parsed: Certificate } {
  const parsed = parse(pem);
  const fault = clientAuthorityFault(parsed, now);
  if (fault !== undefined) throw new InvalidClientAuthority("certificate", fault);
  return {
    parsed,
    certificate: pemOfCertificate(parsed.der),
    fingerprint: sha256Base64url(parsed.der),
    subject: subjectOf(parsed),
    subjectHash: sha256Base64url(parsed.subject),
    notAfter: parsed.validTo,
  };
}

/** As it is stored; what is no certificate stays as it is. */
export function normalisedCertificate(pem: string): string {
  try {
    return pemOfCertificate(certificateInPem(pem));
  } catch {
    return pem;
  }
}

function parse(pem: string): Certificate {
  if (pem.includes("PRIVATE KEY"))
    throw new InvalidClientAuthority(
      "certificate",
      "must be a certificate alone; the private key you sent is compromised, replace it",
    );
  try {
    if (pem.length <= MAX_CERTIFICATE_LENGTH) return readCertificate(Buffer.from(certificateInPem(pem)));
  } catch {
    // Told below.
  }
  throw new InvalidClientAuthority("certificate", "must be one certificate in PEM");
}

/** One line, without control and bidirectional characters that could disguise it. */
const subjectOf = ({ x509 }: Certificate): string =>
  x509.subject
    .split("\n")
    .reverse()
    .join(", ")
    .replace(/[\p{Cc}\p{Cf}]/gu, "?")
    .slice(0, MAX_SUBJECT_LENGTH);
