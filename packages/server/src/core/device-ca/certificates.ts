/** Builds and signs CA and device certificates (RFC 5280; device-identity.md §2). */
import { derInteger, derOctetString, derSequence, derTrue, derValue } from "@signet/protocol/der/der-writer";
import { sha256Base64url } from "@signet/protocol/hash";
import type { Attestation } from "../devices/device.ts";
import type { CaKey } from "./ca-key.ts";
import {
  BACKDATE_MS,
  CA_LIFETIME_MS,
  type CaGeneration,
  CERTIFICATE_LIFETIME_MS,
  deviceCaUris,
  wholeSeconds,
} from "./generation.ts";
import {
  authorityKeyIdentifier,
  distinguishedName,
  extension,
  keyIdentifier,
  newSerial,
  oid,
  serialNumber,
  signatureAlgorithm,
  signStructure,
  tags,
  toPem,
  x509Time,
} from "./x509.ts";

export interface SignedCertificate {
  readonly der: Buffer;
  readonly pem: string;
  /** Hexadecimal, 32 digits. */
  readonly serial: string;
  /** SHA-256 of the DER, base64url. */
  readonly fingerprint: string;
  /** Milliseconds. */
  readonly notBefore: number;
  readonly notAfter: number;
}

/** Unique per generation, so that a CRL or an OCSP request identifies one generation. */
export const caName = (orgId: string, generation: number): Buffer =>
  distinguishedName(orgId, `Device CA ${generation}`);

export async function issueCaCertificate(
  key: CaKey,
  input: { orgId: string; generation: number; now: number },
): Promise<SignedCertificate> {
  const name = caName(input.orgId, input.generation);
  const keyId = keyIdentifier(key.spki);
  return issueCertificate(key, {
    subject: name,
    issuer: name,
    spki: key.spki,
    notBefore: wholeSeconds(input.now - BACKDATE_MS),
    notAfter: wholeSeconds(input.now + CA_LIFETIME_MS),
    extensions: [
      caConstraints,
      // digitalSignature: the CA signs OCSP responses itself.
      keyUsage(DIGITAL_SIGNATURE | KEY_CERT_SIGN | CRL_SIGN, 1),
      subjectKeyIdentifier(keyId),
      authorityKeyIdentifier(keyId),
    ],
  });
}

export interface DeviceCertificateInput {
  readonly baseUrl: string;
  readonly deviceId: string;
  /** SubjectPublicKeyInfo of the device's key, DER. */
  readonly spki: Buffer;
  readonly attestation: Attestation;
  readonly now: number;
}

/** @throws DerError when the key is not a SubjectPublicKeyInfo */
export async function issueDeviceCertificate(
  ca: CaGeneration & { readonly key: CaKey },
  input: DeviceCertificateInput,
): Promise<SignedCertificate> {
  const uris = deviceCaUris(input.baseUrl, ca.orgId);
  return issueCertificate(ca.key, {
    subject: distinguishedName(ca.orgId, input.deviceId),
    issuer: caName(ca.orgId, ca.generation),
    spki: input.spki,
    notBefore: Math.max(wholeSeconds(input.now - BACKDATE_MS), ca.notBefore),
    notAfter: Math.min(wholeSeconds(input.now + CERTIFICATE_LIFETIME_MS), ca.notAfter),
    extensions: [
      leafConstraints,
      keyUsage(DIGITAL_SIGNATURE, 7),
      clientAuthOnly,
      extension(SUBJECT_ALT_NAME, derSequence(uriName(uris.device(input.deviceId)))),
      subjectKeyIdentifier(keyIdentifier(input.spki)),
      authorityKeyIdentifier(keyIdentifier(ca.key.spki)),
      crlDistributionPoint(uris.crl(ca.generation)),
      extension(AUTHORITY_INFO_ACCESS, derSequence(derSequence(OCSP, uriName(uris.ocsp)))),
      ...(input.attestation === "tpm" ? [tpmPolicies] : []),
    ],
  });
}

/** RFC 5280 §4.1. */
async function issueCertificate(
  issuer: CaKey,
  content: {
    readonly subject: Buffer;
    readonly issuer: Buffer;
    readonly spki: Buffer;
    readonly notBefore: number;
    readonly notAfter: number;
    readonly extensions: readonly Buffer[];
  },
): Promise<SignedCertificate> {
  const serial = newSerial();
  const { notBefore, notAfter } = content;
  const version3 = derValue(tags.constructed, derInteger(2));
  const body = derSequence(
    version3,
    serialNumber(serial),
    signatureAlgorithm,
    content.issuer,
    derSequence(x509Time(notBefore), x509Time(notAfter)),
    content.subject,
    content.spki,
    derValue(tags.constructed + 3, derSequence(...content.extensions)),
  );
  const der = await signStructure(body, issuer.sign);
  return { der, pem: toPem(der), serial, fingerprint: sha256Base64url(der), notBefore, notAfter };
}

/** KeyUsage bits, from the left (RFC 5280 §4.2.1.3). */
const DIGITAL_SIGNATURE = 0x80;
const KEY_CERT_SIGN = 0x04;
const CRL_SIGN = 0x02;

const SUBJECT_ALT_NAME = oid("2.5.29.17");
const AUTHORITY_INFO_ACCESS = oid("1.3.6.1.5.5.7.1.1");
const OCSP = oid("1.3.6.1.5.5.7.48.1");

const CRITICAL = { critical: true };
const BASIC_CONSTRAINTS = oid("2.5.29.19");
/** CA with path length 0: it issues no sub-CAs. */
const caConstraints = extension(BASIC_CONSTRAINTS, derSequence(derTrue, derInteger(0)), CRITICAL);
const leafConstraints = extension(BASIC_CONSTRAINTS, derSequence(), CRITICAL);

/** @param unused trailing zero bits, which DER leaves out (X.690 §11.2.2) */
const keyUsage = (bits: number, unused: number): Buffer =>
  extension(oid("2.5.29.15"), derValue(0x03, Buffer.from([unused, bits])), CRITICAL);

const clientAuthOnly = extension(oid("2.5.29.37"), derSequence(oid("1.3.6.1.5.5.7.3.2")));

const subjectKeyIdentifier = (keyId: Buffer): Buffer => extension(oid("2.5.29.14"), derOctetString(keyId));

const uriName = (uri: string): Buffer => derValue(tags.primitive + 6, Buffer.from(uri));

/** Each certificate names the CRL of the generation that signed it (RFC 5280 §4.2.1.13). */
const crlDistributionPoint = (uri: string): Buffer =>
  extension(
    oid("2.5.29.31"),
    derSequence(derSequence(derValue(tags.constructed, derValue(tags.constructed, uriName(uri))))),
  );

/** TCG policies for attested keys: verified TPM residency, verified TPM fixed. */
const tpmPolicies = extension(
  oid("2.5.29.32"),
  derSequence(derSequence(oid("2.23.133.11.1.1")), derSequence(oid("2.23.133.11.1.2"))),
);
