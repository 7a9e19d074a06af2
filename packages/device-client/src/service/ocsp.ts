/** Asks whether a certificate still counts, and believes only what its CA has signed (RFC 6960). */
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
  /** In ISO 8601, and RFC 5280 §5.3.1's number. */
  | { readonly kind: "revoked"; readonly at: string; readonly reason: number | undefined }
  | { readonly kind: "unknown" };

export class OcspFault extends Error {
  constructor(message: string) {
    super(message);
    this.name = "OcspFault";
  }
}

const SHA1 = "2b0e03021a";
const BASIC_RESPONSE = "2b0601050507300101";
/** ecdsa-with-SHA256: the organisation's CA is on P-256 (device-identity.md §2). */
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

/** RFC 6960 §4.1.1, with SHA-1 in the name of the certificate (RFC 5019 §2.1.1): nothing is proven by it. */
export function ocspRequest(certificate: X509Certificate, issuer: X509Certificate): Buffer {
  return derSequence(derSequence(derSequence(derSequence(certificateId(certificate, issuer)))));
}

function certificateId(certificate: X509Certificate, issuer: X509Certificate): Buffer {
  const sha1 = (bytes: Buffer) => derOctetString(createHash("sha1").update(bytes).digest());
  const name = readCertificate(issuer.raw).subject;
  const serial = derInteger(Buffer.from(certificate.serialNumber, "hex"));
  return derSequence(derSequence(derOid(SHA1), derNull), sha1(name), sha1(keyBits(issuer)), serial);
}

/** The content of the BIT STRING, without its count of unused bits. */
function keyBits({ publicKey }: X509Certificate): Buffer {
  const spki = publicKey.export({ format: "der", type: "spki" });
  const [, bits] = childrenOf(readDer(spki, derTags.sequence));
  return wholeBytesOf(expectTag(bits, derTags.bitString));
}

export interface Asked {
  readonly certificate: X509Certificate;
  readonly issuer: X509Certificate;
  /** Milliseconds. */
  readonly now: number;
}

/** @throws OcspFault for an answer that is not for this certificate, not signed by its CA, or too old; DerError */
export function readOcspResponse(response: Buffer, asked: Asked): CertificateStatus {
  const [status, bytes] = childrenOf(readDer(response, derTags.sequence));
  if (expectTag(status, tags.enumerated).content[0] !== 0)
    throw new OcspFault("the service could not answer");
  const [typed] = childrenOf(expectTag(bytes, tags.explicit0));
  const [type, basic] = childrenOf(expectTag(typed, derTags.sequence));
  if (oidOf(expectTag(type, derTags.oid)) !== BASIC_RESPONSE)
    throw new OcspFault("an answer of another kind");
  const content = readDer(expectTag(basic, derTags.octetString).content, derTags.sequence);
  const [data, algorithm, signature] = childrenOf(content);
  const signed = expectTag(data, derTags.sequence);
  refuseForged(signed, algorithm, signature, asked.issuer);
  return statusOf(singleOf(signed, asked), asked.now);
}

function refuseForged(
  data: DerElement<Buffer>,
  algorithm: DerElement<Buffer> | undefined,
  signature: DerElement<Buffer> | undefined,
  { publicKey }: X509Certificate,
): void {
  const [oid] = childrenOf(expectTag(algorithm, derTags.sequence));
  if (oidOf(expectTag(oid, derTags.oid)) !== ECDSA_SHA256)
    throw new OcspFault("an answer signed in another way");
  const bits = wholeBytesOf(expectTag(signature, derTags.bitString));
  if (!verify("sha256", data.raw, publicKey, bits))
    throw new OcspFault("an answer that the CA has not signed");
}

/** ResponseData: version (0, left out), responder, time, answers. */
function singleOf(data: DerElement<Buffer>, { certificate, issuer }: Asked): DerElement<Buffer>[] {
  const list = childrenOf(data).find(({ tag }) => tag === derTags.sequence);
  const wanted = certificateId(certificate, issuer);
  for (const single of childrenOf(expectTag(list, derTags.sequence))) {
    const parts = childrenOf(expectTag(single, derTags.sequence));
    if (sameCertificate(expectTag(parts[0], derTags.sequence), wanted)) return parts;
  }
  throw new OcspFault("an answer for another certificate");
}

/** The parameters of the hash may be left out: all else must be the same. */
function sameCertificate(id: DerElement<Buffer>, wanted: Buffer): boolean {
  const [, ...told] = childrenOf(id);
  const [, ...asked] = childrenOf(readDer(wanted, derTags.sequence));
  return told.length === asked.length && told.every(({ raw }, index) => asked[index]?.raw.equals(raw));
}

const SKEW_MS = 300_000;
/** Without a time of the next one. */
const DAY_MS = 86_400_000;

function statusOf([, status, thisUpdate, ...rest]: DerElement<Buffer>[], now: number): CertificateStatus {
  const from = timeOf(expectTag(thisUpdate, tags.generalizedTime));
  const next = rest.find(({ tag }) => tag === tags.explicit0);
  const until = next ? timeOf(expectTag(childrenOf(next)[0], tags.generalizedTime)) : from + DAY_MS;
  if (from > now + SKEW_MS || until < now - SKEW_MS) throw new OcspFault("an answer of another time");
  if (status?.tag === tags.good) return { kind: "good" };
  if (status?.tag !== tags.revoked) return { kind: "unknown" };
  const [at, reason] = childrenOf(status);
  const number = reason && childrenOf(expectTag(reason, tags.explicit0))[0]?.content[0];
  return {
    kind: "revoked",
    at: new Date(timeOf(expectTag(at, tags.generalizedTime))).toISOString(),
    reason: number,
  };
}

function timeOf({ content }: DerElement<Buffer>): number {
  const [, year, month, day, hour, minute, second] =
    /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/.exec(content.toString("latin1")) ?? [];
  if (second === undefined) throw new OcspFault("a time that is none");
  return Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
}
