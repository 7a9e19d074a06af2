/**
 * Whether a signing key's certificates chain to a pinned root (sovereign-signing.md §8, "Path profile"). A short list of
 * checks of our own: chain builders that were tried went through a non-CA, past a path length, over unknown critical
 * extensions. It refuses whatever `openssl verify` refuses, and more.
 */
import { type KeyObject, X509Certificate } from "node:crypto";
import { type Certificate, keyUsageBits, readCertificate } from "./certificate.ts";
import { certificateFault, isIssuedBy, issuerFault } from "./certificate-path.ts";
import { DerError } from "./der.ts";

export interface X5cChain {
  /** Base64 DER, the leaf first, each certified by the next (RFC 7515 §4.1.6); the root may be left out. */
  readonly x5c: readonly string[];
  /** PEM, one certificate each. */
  readonly trustedRoots: readonly string[];
  /** Of the JWK that the chain is for. */
  readonly publicKey: KeyObject;
  /** What the leaf must be made out to: the pool's address. */
  readonly subjectUri: string;
  /** Milliseconds. */
  readonly now: number;
}

/** The root included. */
export const MOST_CERTIFICATES = 4;

/** What is wrong with the chain, in words for whoever made it; undefined when nothing is. */
export function x5cChainFault(chain: X5cChain): string | undefined {
  if (chain.x5c.length === 0) return "there are no certificates";
  if (chain.x5c.length > MOST_CERTIFICATES) return `a path has at most ${MOST_CERTIFICATES} certificates`;
  let path: Certificate[];
  let roots: Certificate[];
  try {
    path = chain.x5c.map((text) => readCertificate(base64Bytes(text)));
    roots = chain.trustedRoots.map(readRoot);
  } catch (error) {
    return `a certificate cannot be read: ${error instanceof DerError ? error.message : "it is none"}`;
  }
  const pinned = path.findIndex(({ der }) => roots.some((root) => root.der.equals(der)));
  if (pinned >= 0 && pinned < path.length - 1) return "there are certificates after the root";
  const top = path.at(-1);
  const anchor = pinned < 0 && top ? roots.find((root) => isIssuedBy(top, root)) : undefined;
  if (pinned < 0 && !anchor) return "the path does not end at a trusted root";
  const whole = anchor ? [...path, anchor] : path;
  if (whole.length > MOST_CERTIFICATES) return `a path has at most ${MOST_CERTIFICATES} certificates`;
  return pathFault(whole, chain.now) ?? leafFault(whole, chain);
}

/** What is wrong with a root that is to be pinned; undefined when nothing is. */
export function rootFault(pem: string, now: number): string | undefined {
  try {
    const root = readRoot(pem);
    const fault = certificateFault(root, now) ?? issuerFault(root, 1);
    return fault ?? (isIssuedBy(root, root) ? undefined : "is not signed by itself");
  } catch {
    return "is not a certificate in PEM";
  }
}

function pathFault(path: readonly Certificate[], now: number): string | undefined {
  for (const [index, certificate] of path.entries()) {
    const own = certificateFault(certificate, now);
    const fault = own ?? (index > 0 ? issuerFault(certificate, index) : undefined);
    if (fault) return `certificate ${index} ${fault}`;
  }
  for (const [index, certificate] of path.entries()) {
    const issuer = path[index + 1];
    if (issuer && !isIssuedBy(certificate, issuer))
      return `certificate ${index} is not issued by the next one`;
  }
  const root = path.at(-1);
  return root && isIssuedBy(root, root) ? undefined : "the trusted root is not signed by itself";
}

function leafFault([leaf, ...issuers]: readonly Certificate[], chain: X5cChain): string | undefined {
  if (!leaf || issuers.length === 0) return "the leaf is the root itself";
  if (leaf.isCa) return "the leaf is a certificate authority";
  if (!leaf.keyUsage?.has(keyUsageBits.digitalSignature)) return "the leaf may not make digital signatures";
  // Else any certificate of the company could sign tokens.
  if (!leaf.subjectUris.includes(chain.subjectUri))
    return "the leaf's subject alternative names lack the URI of the pool";
  return isSameKey(leaf.x509.publicKey, chain.publicKey) ? undefined : "the leaf is for another key";
}

function isSameKey(a: KeyObject, b: KeyObject): boolean {
  const [one, other] = [a, b].map((key) => key.export({ format: "der", type: "spki" }));
  return one !== undefined && other !== undefined && one.equals(other);
}

function readRoot(pem: string): Certificate {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----/g) ?? [];
  if (blocks.length !== 1) throw new DerError("not one certificate in PEM");
  return readCertificate(new X509Certificate(pem).raw);
}

/** Plain base64 in the one spelling of it (RFC 4648 §4), which is what x5c has. */
function base64Bytes(text: string): Buffer {
  const bytes = Buffer.from(text, "base64");
  if (bytes.toString("base64") !== text) throw new DerError("it is not base64");
  return bytes;
}
