/** The certificate of an endorsement key: what vendors leave in the TPM's memory (TCG EK Credential Profile for TPM 2.0 §3). */
import { createPublicKey, type KeyObject } from "node:crypto";
import { type Certificate, readCertificate } from "../certificates/certificate.ts";
import { keyUsageBits, optionalExtensionOids } from "../certificates/certificate-content.ts";
import { anchorFault, certificateFault, issuerFault } from "../certificates/certificate-path.ts";
import { reachesAnchor } from "../certificates/path-to-anchor.ts";
import { DerError } from "../der/der.ts";
import { ekKindOf } from "./make-credential.ts";

/** tcg-kp-EKCertificate, 2.23.133.8.1. */
const EK_USAGE = "6781050801";
const ANY_USAGE = "551d2500";
/** The EK's own certificate, what is between, and the root. */
export const MAX_EK_PATH = 5;

/** TCG_PCCLIENT_STORED_CERT: tag 1001, type 0 (a whole certificate), size; then TCG_FULL_CERT's tag 1002. */
const STORED_CERTIFICATE = Buffer.from([0x10, 0x01, 0x00]);
const FULL_CERTIFICATE = Buffer.from([0x10, 0x02]);

/** Without the header that some TPMs store before it, and the filler after it. @throws DerError if anything else follows */
export function unwrapEkCertificate(stored: Buffer): Buffer {
  const bytes = withoutHeader(stored);
  const length = derLength(bytes);
  const filler = bytes.subarray(length);
  const [first] = filler;
  const isFiller =
    first === undefined || ((first === 0x00 || first === 0xff) && filler.every((one) => one === first));
  if (!isFiller) throw new DerError("there is something after the certificate");
  return bytes.subarray(0, length);
}

function withoutHeader(stored: Buffer): Buffer {
  if (!stored.subarray(0, 3).equals(STORED_CERTIFICATE)) return stored;
  const rest = stored.subarray(5);
  return rest.subarray(0, 2).equals(FULL_CERTIFICATE) ? rest.subarray(2) : rest;
}

/** Of a sequence whose length is written in two bytes, as every certificate's is. */
function derLength(bytes: Buffer): number {
  if (bytes.length < 4 || bytes[0] !== 0x30 || bytes[1] !== 0x82) throw new DerError("not a certificate");
  const length = 4 + bytes.readUInt16BE(2);
  if (length > bytes.length) throw new DerError("the certificate ends too early");
  return length;
}

export interface EkCertificate {
  readonly certificate: Certificate;
  readonly publicKey: KeyObject;
  /** SubjectPublicKeyInfo in the one spelling that the key has. */
  readonly spki: Buffer;
}

/** @param stored as the TPM has it. @throws TpmError `unsupported` for another kind of key, Error if it is no certificate */
export function readEkCertificate(stored: Buffer): EkCertificate {
  const certificate = readCertificate(unwrapEkCertificate(stored));
  const { publicKey } = certificate.x509;
  return { certificate, publicKey, spki: ekSpki(publicKey) };
}

/** The canonical key: another encoding of the point would have another hash. @throws TpmError `unsupported` */
export function ekSpki(publicKey: KeyObject): Buffer {
  ekKindOf(publicKey);
  const key = createPublicKey({ format: "jwk", key: publicKey.export({ format: "jwk" }) });
  return key.export({ format: "der", type: "spki" });
}

/** The fault of an endorsement key certificate, whatever its issuer; undefined if it is valid. */
export function ekFault({ certificate, publicKey }: EkCertificate): string | undefined {
  const { isCa, keyUsage, extendedKeyUsage } = certificate;
  if (isCa) return "it is a certificate authority's";
  if (!hasEkUsage(extendedKeyUsage)) return "its extended key usage is another";
  const { keyEncipherment, keyAgreement } = keyUsageBits;
  const wanted = publicKey.asymmetricKeyType === "rsa" ? keyEncipherment : keyAgreement;
  return keyUsage?.has(wanted) ? undefined : "its key usage is not an endorsement key's";
}

const hasEkUsage = (usage: ReadonlySet<string> | undefined): boolean =>
  usage === undefined || usage.has(EK_USAGE) || usage.has(ANY_USAGE);

export interface EkPath {
  readonly ek: Certificate;
  /** What came with it, in any order; what is not needed is left alone. */
  readonly others: readonly Certificate[];
  /** Trusted, signed by themselves or not. */
  readonly anchors: readonly Certificate[];
  /** Milliseconds. */
  readonly now: number;
}

/** Why no path leads from the EK's certificate to a trusted one; undefined when one does. Nothing is fetched. */
export function ekPathFault(input: EkPath): string | undefined {
  const own = certificateFault(input.ek, input.now, knownCritical);
  if (own !== undefined) return `it ${own}`;
  const { others, now } = input;
  const anchors = input.anchors.filter((anchor) => trustedFault(anchor, now) === undefined);
  const rules = { others, anchors, now, max: MAX_EK_PATH, known: knownCritical, mayIssue: mayIssueEks };
  return reachesAnchor([input.ek], rules) ? undefined : "no path leads from it to a trusted root";
}

/** No policy is asked for, so that any will do (RFC 5280 §6.1.1); usages are looked at. */
const knownCritical = Object.values(optionalExtensionOids);

/** What is wrong with a certificate that an EK's path is to end at; undefined when nothing is. @param now milliseconds */
export const trustedFault = (anchor: Certificate, now: number): string | undefined =>
  anchorFault(anchor, now, knownCritical) ??
  issuerFault(anchor, 1) ??
  (mayIssueEks(anchor) ? undefined : "is for something else");

/** An authority that says what its certificates are for, and insists on it, must say this. */
const mayIssueEks = ({ otherCritical, extendedKeyUsage }: Certificate): boolean =>
  !otherCritical.includes(optionalExtensionOids.extendedKeyUsage) || hasEkUsage(extendedKeyUsage);
