/** OCSP (RFC 6960): asks for a certificate's status, and accepts only what its CA has signed. */
import { createHash, verify, type X509Certificate } from "node:crypto";
import { readCertificate } from "@signet/protocol/certificates/certificate";
import {
  childrenOf,
  type DerElement,
  derTags,
  expectTag,
  oidOf,
  readDer,
  wholeBytesOf,
} from "@signet/protocol/der/der";
import { derInteger, derNull, derOctetString, derOid, derSequence } from "@signet/protocol/der/der-writer";

export type CertificateStatus =
  | { readonly kind: "good" }
  /** `at` in ISO 8601; `reason` is a CRLReason (RFC 5280 §5.3.1). */
  | { readonly kind: "revoked"; readonly at: string; readonly reason: number | undefined }
  | { readonly kind: "unknown" };

export class OcspFault extends Error {
  override name = "OcspFault";
}

const SHA1 = "2b0e03021a";
const BASIC_RESPONSE = "2b0601050507300101";
/** The organisation's CA key is on P-256 (device-identity.md §2). */
const ECDSA_SHA256 = "2a8648ce3d040302";

const tags = {
  enumerated: 0x0a,
  generalizedTime: 0x18,
  explicit0: 0xa0,
  good: 0x80,
  revoked: 0xa1,
  unknown: 0x82,
  explicit1: 0xa1,
} as const;

/** RFC 6960 §4.1.1. SHA-1 only identifies the certificate (RFC 5019 §2.1.1): it proves nothing. */
export function ocspRequest(certificate: X509Certificate, issuer: X509Certificate): Buffer {
  return derSequence(derSequence(derSequence(derSequence(certificateId(certificate, issuer)))));
}

function certificateId(certificate: X509Certificate, issuer: X509Certificate): Buffer {
  const sha1 = (bytes: Buffer) => derOctetString(createHash("sha1").update(bytes).digest());
  const name = readCertificate(issuer.raw).subject;
  const serial = derInteger(Buffer.from(certificate.serialNumber, "hex"));
  return derSequence(derSequence(derOid(SHA1), derNull), sha1(name), sha1(keyBits(issuer)), serial);
}

/** Content of the BIT STRING without its count of unused bits. */
function keyBits({ publicKey }: X509Certificate): Buffer {
  const spki = publicKey.export({ format: "der", type: "spki" });
  const [, bits] = childrenOf(readDer(spki, derTags.sequence));
  return wholeBytesOf(expectTag(bits, derTags.bitString));
}

/** `now` in milliseconds. */
type StatusQuery = {
  readonly certificate: X509Certificate;
  readonly issuer: X509Certificate;
  readonly now: number;
};

/** @throws OcspFault for an answer about another certificate, not signed by its CA, or out of date; DerError */
export function readOcspResponse(response: Buffer, query: StatusQuery): CertificateStatus {
  const [status, bytes] = childrenOf(readDer(response, derTags.sequence));
  if (expectTag(status, tags.enumerated).content[0] !== 0)
    throw new OcspFault("the OCSP responder could not answer");
  const [typed] = childrenOf(expectTag(bytes, tags.explicit0));
  const [type, basic] = childrenOf(expectTag(typed, derTags.sequence));
  if (oidOf(expectTag(type, derTags.oid)) !== BASIC_RESPONSE)
    throw new OcspFault("not a basic OCSP response");
  const content = readDer(expectTag(basic, derTags.octetString).content, derTags.sequence);
  const [data, algorithm, signature] = childrenOf(content);
  const signed = expectTag(data, derTags.sequence);
  verifySignature(signed, algorithm, signature, query.issuer);
  return readStatus(findAnswer(signed, query), query.now);
}

function verifySignature(
  data: DerElement<Buffer>,
  algorithm: DerElement<Buffer> | undefined,
  signature: DerElement<Buffer> | undefined,
  { publicKey }: X509Certificate,
): void {
  const [oid] = childrenOf(expectTag(algorithm, derTags.sequence));
  if (oidOf(expectTag(oid, derTags.oid)) !== ECDSA_SHA256)
    throw new OcspFault("an OCSP response with an unexpected signature algorithm");
  const bits = wholeBytesOf(expectTag(signature, derTags.bitString));
  if (!verify("sha256", data.raw, publicKey, bits))
    throw new OcspFault("an OCSP response that the CA has not signed");
}

/** ResponseData: version (0, omitted), responder, time, answers. */
function findAnswer(data: DerElement<Buffer>, { certificate, issuer }: StatusQuery): DerElement<Buffer>[] {
  const list = childrenOf(data).find(({ tag }) => tag === derTags.sequence);
  const wanted = certificateId(certificate, issuer);
  for (const single of childrenOf(expectTag(list, derTags.sequence))) {
    const parts = childrenOf(expectTag(single, derTags.sequence));
    if (sameCertificate(expectTag(parts[0], derTags.sequence), wanted)) return parts;
  }
  throw new OcspFault("an OCSP response for another certificate");
}

/** Equal but for the parameters of the hash, which may be omitted. */
function sameCertificate(id: DerElement<Buffer>, wanted: Buffer): boolean {
  const [, ...actual] = childrenOf(id);
  const [, ...expected] = childrenOf(readDer(wanted, derTags.sequence));
  return (
    actual.length === expected.length && actual.every(({ raw }, index) => expected[index]?.raw.equals(raw))
  );
}

const SKEW_MS = 300_000;
/** Without nextUpdate. */
const DEFAULT_VALIDITY_MS = 86_400_000;

function readStatus([, status, thisUpdate, ...rest]: DerElement<Buffer>[], now: number): CertificateStatus {
  const from = parseTime(expectTag(thisUpdate, tags.generalizedTime));
  const next = rest.find(({ tag }) => tag === tags.explicit0);
  const until = next
    ? parseTime(expectTag(childrenOf(next)[0], tags.generalizedTime))
    : from + DEFAULT_VALIDITY_MS;
  if (from > now + SKEW_MS || until < now - SKEW_MS)
    throw new OcspFault("an OCSP response that is out of date");
  if (status?.tag === tags.good) return { kind: "good" };
  if (status?.tag !== tags.revoked) return { kind: "unknown" };
  const [time, code] = childrenOf(status);
  const at = new Date(parseTime(expectTag(time, tags.generalizedTime))).toISOString();
  const reason = code && childrenOf(expectTag(code, tags.explicit0))[0]?.content[0];
  return { kind: "revoked", at, reason };
}

function parseTime({ content }: DerElement<Buffer>): number {
  const [, year, month, day, hour, minute, second] =
    /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/.exec(content.toString("latin1")) ?? [];
  if (second === undefined) throw new OcspFault("an invalid time in an OCSP response");
  return Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
}
