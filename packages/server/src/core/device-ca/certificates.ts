/** The two kinds of certificates: a generation of the CA, and a device's (device-identity.md §2). */
import { derInteger, derOctetString, derSequence, derTrue, derValue } from "@signet/protocol/der/der-writer";
import { sha256Base64url } from "@signet/protocol/hash";
import type { Attestation } from "../devices/device.ts";
import type { CaKey } from "./ca-key.ts";
import {
  BACKDATED_MS,
  CA_LIFE_MS,
  type CaGeneration,
  CERTIFICATE_LIFE_MS,
  deviceUris,
  wholeSeconds,
} from "./generation.ts";
import {
  authorityKeyIdentifier,
  distinguishedName,
  extension,
  keyIdentifier,
  newSerial,
  oid,
  pemOf,
  serialNumber,
  signatureAlgorithm,
  signed,
  tags,
  x509Time,
} from "./x509.ts";

export interface MadeCertificate {
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

/** Each generation has a name of its own, so that a CRL or an OCSP request names one of them only. */
export const caName = (orgId: string, generation: number): Buffer =>
  distinguishedName(orgId, `Device CA ${generation}`);

export async function makeCaCertificate(
  key: CaKey,
  input: { orgId: string; generation: number; now: number },
): Promise<MadeCertificate> {
  const name = caName(input.orgId, input.generation);
  const keyId = keyIdentifier(key.spki);
  return makeCertificate(key, {
    subject: name,
    issuer: name,
    spki: key.spki,
    notBefore: wholeSeconds(input.now - BACKDATED_MS),
    notAfter: wholeSeconds(input.now + CA_LIFE_MS),
    extensions: [
      authorityOverDevices,
      // It signs its OCSP answers itself: digitalSignature is for those.
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
export async function makeDeviceCertificate(
  ca: CaGeneration & { readonly key: CaKey },
  input: DeviceCertificateInput,
): Promise<MadeCertificate> {
  const uris = deviceUris(input.baseUrl, ca.orgId);
  return makeCertificate(ca.key, {
    subject: distinguishedName(ca.orgId, input.deviceId),
    issuer: caName(ca.orgId, ca.generation),
    spki: input.spki,
    notBefore: Math.max(wholeSeconds(input.now - BACKDATED_MS), ca.notBefore),
    notAfter: Math.min(wholeSeconds(input.now + CERTIFICATE_LIFE_MS), ca.notAfter),
    extensions: [
      noAuthority,
      keyUsage(DIGITAL_SIGNATURE, 7),
      forClientsOnly,
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
async function makeCertificate(
  issuer: CaKey,
  content: {
    readonly subject: Buffer;
    readonly issuer: Buffer;
    readonly spki: Buffer;
    readonly notBefore: number;
    readonly notAfter: number;
    readonly extensions: readonly Buffer[];
  },
): Promise<MadeCertificate> {
  const serial = newSerial();
  const { notBefore, notAfter } = content;
  const version3 = derValue(tags.around, derInteger(2));
  const body = derSequence(
    version3,
    serialNumber(serial),
    signatureAlgorithm,
    content.issuer,
    derSequence(x509Time(notBefore), x509Time(notAfter)),
    content.subject,
    content.spki,
    derValue(tags.around + 3, derSequence(...content.extensions)),
  );
  const der = await signed(body, issuer.sign);
  return { der, pem: pemOf(der), serial, fingerprint: sha256Base64url(der), notBefore, notAfter };
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
/** CA, and path length 0: its certificates are nobody's issuers. */
const authorityOverDevices = extension(BASIC_CONSTRAINTS, derSequence(derTrue, derInteger(0)), CRITICAL);
const noAuthority = extension(BASIC_CONSTRAINTS, derSequence(), CRITICAL);

/** @param unused bits at the end: DER leaves out what is not set (X.690 §11.2.2) */
const keyUsage = (bits: number, unused: number): Buffer =>
  extension(oid("2.5.29.15"), derValue(0x03, Buffer.from([unused, bits])), CRITICAL);

const forClientsOnly = extension(oid("2.5.29.37"), derSequence(oid("1.3.6.1.5.5.7.3.2")));

const subjectKeyIdentifier = (keyId: Buffer): Buffer => extension(oid("2.5.29.14"), derOctetString(keyId));

const uriName = (uri: string): Buffer => derValue(tags.own + 6, Buffer.from(uri));

/** Each certificate names the CRL of the generation that signed it (RFC 5280 §4.2.1.13). */
const crlDistributionPoint = (uri: string): Buffer =>
  extension(
    oid("2.5.29.31"),
    derSequence(derSequence(derValue(tags.around, derValue(tags.around, uriName(uri))))),
  );

/** TCG: verified TPM residency, and verified fixed to it. For attested keys only. */
const tpmPolicies = extension(
  oid("2.5.29.32"),
  derSequence(derSequence(oid("2.23.133.11.1.1")), derSequence(oid("2.23.133.11.1.2"))),
);
