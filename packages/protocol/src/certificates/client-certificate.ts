/**
 * Client certificates of authorities that an organisation trusts (RFC 8705 §2.1): the path to one of them, and the one name that
 * the client has registered (§2.1.2).
 */

import { areSameBytes } from "../der/der.ts";
import { type Certificate, readCertificate } from "./certificate.ts";
import { keyUsageBits, optionalExtensionOids } from "./certificate-content.ts";
import { anchorFault, certificateFault, issuerFault } from "./certificate-path.ts";
import { areSameNames, parseDistinguishedName, readDistinguishedName } from "./distinguished-name.ts";
import { addressBytes, isSameEmail, isSameHost } from "./general-names.ts";
import { reachesAnchor } from "./path-to-anchor.ts";

/** Of a path, the anchor included. */
export const MAX_CLIENT_PATH = 4;

/** id-kp-clientAuth and anyExtendedKeyUsage (RFC 5280 §4.2.1.12). */
const CLIENT_USAGE = "2b06010505070302";
const ANY_USAGE = "551d2500";
const knownCritical = Object.values(optionalExtensionOids);

/** Of a leaf and, as OpenSSL has it, of the authorities above it. */
const isForClients = ({ extendedKeyUsage: usage }: Certificate): boolean =>
  usage === undefined || usage.has(CLIENT_USAGE) || usage.has(ANY_USAGE);

export interface ClientPath {
  readonly leaf: Certificate;
  /** What TLS brought with it. */
  readonly others: readonly Certificate[];
  readonly anchors: readonly Certificate[];
  /** Milliseconds. */
  readonly now: number;
}

/** Why no path leads from the certificate to a trusted authority; undefined when one does. Nothing is fetched. */
export function clientPathFault({ leaf, others, anchors, now }: ClientPath): string | undefined {
  const fault = certificateFault(leaf, now, knownCritical) ?? leafFault(leaf);
  if (fault !== undefined) return fault;
  const rules = {
    ...{ others, now, max: MAX_CLIENT_PATH, known: knownCritical, mayIssue: isForClients },
    anchors: anchors.filter((anchor) => clientAuthorityFault(anchor, now) === undefined),
  };
  return reachesAnchor([leaf], rules) ? undefined : "has no path to a trusted authority";
}

function leafFault(leaf: Certificate): string | undefined {
  const { isCa, keyUsage } = leaf;
  if (isCa) return "is a certificate authority's";
  // TLS signs with it (RFC 5280 §4.2.1.3).
  if (keyUsage && !keyUsage.has(keyUsageBits.digitalSignature)) return "may not make digital signatures";
  return isForClients(leaf) ? undefined : "is not for client authentication";
}

/** Why a certificate can be no trust anchor for clients; undefined when it can. @param now milliseconds */
export const clientAuthorityFault = (anchor: Certificate, now: number): string | undefined =>
  anchorFault(anchor, now, knownCritical) ??
  issuerFault(anchor, 1) ??
  (isForClients(anchor) ? undefined : "is not for client authentication");

/** What a client has registered: exactly one (RFC 8705 §2.1.2). */
export type ClientName =
  | { readonly kind: "subject-dn"; readonly value: string }
  | { readonly kind: "host" | "uri" | "address" | "email"; readonly value: string };

/** Whether the certificate has the name. */
export function hasClientName(certificate: Certificate, { kind, value }: ClientName): boolean {
  const { subject, subjectUris, subjectNames } = certificate;
  switch (kind) {
    case "subject-dn": {
      const wanted = parseDistinguishedName(value);
      return wanted !== undefined && areSameNames(wanted, readDistinguishedName(subject));
    }
    case "uri":
      return subjectUris.includes(value);
    case "host":
      return subjectNames.hosts.some((host) => isSameHost(host, value));
    case "email":
      return subjectNames.emails.some((email) => isSameEmail(email, value));
    case "address": {
      const wanted = addressBytes(value);
      return wanted !== undefined && subjectNames.addresses.some((bytes) => areSameBytes(bytes, wanted));
    }
  }
}

/** @returns undefined for bytes that are no certificate of version 3 */
export function readClientCertificate(der: Buffer): Certificate | undefined {
  try {
    return readCertificate(der);
  } catch {
    return undefined;
  }
}
