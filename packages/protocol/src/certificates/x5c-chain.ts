/**
 * Whether a signing key's certificates chain to a pinned root (sovereign-signing.md §8, "Path profile"). Our own short list of
 * checks: the chain builders we tried accepted a non-CA, an exceeded path length and unknown critical extensions. It rejects
 * whatever `openssl verify` rejects, and more. WebCrypto only, so that service and SDK judge a chain alike on every platform.
 */
import { areSameBytes, DerError } from "../der/der.ts";
import { bytesOfBase64, certificateInPem } from "../der/pem.ts";
import type { PublicKeyMembers } from "../jose/jwk-members.ts";
import { certifiedKeyOf } from "./certificate-algorithms.ts";
import { keyUsageBits, readCertificateContent } from "./certificate-content.ts";
import { certificateFault, issuerFault } from "./certificate-path.ts";
import { isCertifiedBy, type PathCertificate } from "./certificate-signature.ts";

export interface X5cChain {
  /** Base64 DER, the leaf first, each certified by the next (RFC 7515 §4.1.6); the root may be left out. */
  readonly x5c: readonly string[];
  /** PEM, one certificate each. */
  readonly trustedRoots: readonly string[];
  /** The JWK that the chain is for: its public members, as RFC 7518 spells them. */
  readonly publicJwk: PublicKeyMembers;
  /** The URI that the leaf must name: the pool's issuer. */
  readonly subjectUri: string;
  /** Milliseconds. */
  readonly now: number;
}

/** The root included. */
export const MAX_CERTIFICATES = 4;

/** The fault of the chain, described for its author; undefined if it is valid. */
export async function x5cChainFault(chain: X5cChain): Promise<string | undefined> {
  if (chain.x5c.length === 0) return "there are no certificates";
  if (chain.x5c.length > MAX_CERTIFICATES) return `a path has at most ${MAX_CERTIFICATES} certificates`;
  try {
    const path = chain.x5c.map((text) => readCertificateContent(bytesOfBase64(text)));
    const roots = chain.trustedRoots.map(readRoot);
    const early = formFault(path, chain.now);
    if (early) return early;
    const whole = await wholePath(path, roots);
    if (typeof whole === "string") return whole;
    return formFault(whole, chain.now) ?? (await signatureFault(whole)) ?? leafFault(whole, chain);
  } catch (error) {
    if (!(error instanceof DerError)) throw error;
    return `a certificate cannot be read: ${error.message}`;
  }
}

/** The fault of a root to be pinned; undefined if it is valid. */
export async function rootFault(pem: string, now: number): Promise<string | undefined> {
  try {
    const root = readRoot(pem);
    const fault = certificateFault(root, now) ?? issuerFault(root, 1);
    return fault ?? ((await isCertifiedBy(root, root)) ? undefined : "is not signed by itself");
  } catch (error) {
    if (!(error instanceof DerError)) throw error;
    return "is not a certificate in PEM";
  }
}

/** The path with its root at its end, or why it has none. */
async function wholePath(
  path: readonly PathCertificate[],
  roots: readonly PathCertificate[],
): Promise<readonly PathCertificate[] | string> {
  const pinned = path.findIndex(({ der }) => roots.some((root) => areSameBytes(root.der, der)));
  if (pinned >= 0) return pinned < path.length - 1 ? "there are certificates after the root" : path;
  const anchor = await issuerAmong(roots, path.at(-1));
  if (!anchor) return "the path does not end at a trusted root";
  if (path.length === MAX_CERTIFICATES) return `a path has at most ${MAX_CERTIFICATES} certificates`;
  return [...path, anchor];
}

async function issuerAmong(
  roots: readonly PathCertificate[],
  top: PathCertificate | undefined,
): Promise<PathCertificate | undefined> {
  for (const root of roots) if (top && (await isCertifiedBy(top, root))) return root;
  return undefined;
}

function formFault(path: readonly PathCertificate[], now: number): string | undefined {
  for (const [index, certificate] of path.entries()) {
    const own = certificateFault(certificate, now);
    const fault = own ?? (index > 0 ? issuerFault(certificate, index) : undefined);
    if (fault) return `certificate ${index} ${fault}`;
  }
  return undefined;
}

async function signatureFault(path: readonly PathCertificate[]): Promise<string | undefined> {
  for (const [index, certificate] of path.entries()) {
    const issuer = path[index + 1];
    if (issuer && !(await isCertifiedBy(certificate, issuer)))
      return `certificate ${index} is not issued by the next one`;
  }
  const root = path.at(-1);
  return root && (await isCertifiedBy(root, root)) ? undefined : "the trusted root is not signed by itself";
}

function leafFault([leaf, ...issuers]: readonly PathCertificate[], chain: X5cChain): string | undefined {
  if (!leaf || issuers.length === 0) return "the leaf is the root itself";
  if (leaf.isCa) return "the leaf is a certificate authority";
  if (!leaf.keyUsage?.has(keyUsageBits.digitalSignature)) return "the leaf may not make digital signatures";
  // Else any certificate of the company could sign tokens.
  if (!leaf.subjectUris.includes(chain.subjectUri))
    return "the leaf's subject alternative names lack the URI of the pool";
  return isForKey(leaf, chain.publicJwk) ? undefined : "the leaf is for another key";
}

/** A JWK has one spelling for each key, so that its members can be compared as texts. */
function isForKey(leaf: PathCertificate, wanted: PublicKeyMembers): boolean {
  const key = certifiedKeyOf(leaf.keyInfo);
  // A key for RSASSA-PSS alone would sign RS256 as well, once it is a JWK.
  if (!key || key.pssOnly !== undefined) return false;
  const { jwk }: { jwk: PublicKeyMembers } = key;
  const members = ["kty", "crv", "x", "y", "n", "e", "pub"] as const;
  // The parameter set of ML-DSA is in `alg` (RFC 9964 §3).
  return (
    members.every((member) => jwk[member] === wanted[member]) && (jwk.kty !== "AKP" || jwk.alg === wanted.alg)
  );
}

const readRoot = (pem: string): PathCertificate => readCertificateContent(certificateInPem(pem));
