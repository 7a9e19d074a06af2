/** Whether a client certificate is of an authority that the organisation trusts, and has the client's name (RFC 8705 §2.1). */
import { readCertificate } from "@signet/protocol/certificates/certificate";
import {
  type ClientName,
  clientPathFault,
  hasClientName,
  readClientCertificate,
} from "@signet/protocol/certificates/client-certificate";
import { certificateInPem } from "@signet/protocol/der/pem";
import { sha256Base64url } from "@signet/protocol/hash";
import type { CoreDeps } from "../core-deps.ts";
import { findAuthorityCertificates } from "./client-authorities.store.ts";

export interface PresentedClientCertificate {
  /** Possession of its key has been proven. */
  readonly der: Buffer;
  /** What came with it; nothing is proven of these. */
  readonly chain: readonly Buffer[];
  readonly name: ClientName;
}

/**
 * Looked up at every request: an authority that is disabled or deleted ends at once. No revocation list is fetched: its address
 * would be the certificate's.
 * @returns why not, for the log; undefined when it is
 */
export async function trustedClientFault(
  { database, clock }: CoreDeps,
  orgId: string,
  { der, chain, name }: PresentedClientCertificate,
): Promise<string | undefined> {
  const leaf = readClientCertificate(der);
  if (!leaf) return "can't be read";
  const others = chain.flatMap((one) => readClientCertificate(one) ?? []);
  const issuers = new Set([leaf, ...others].map(({ issuer }) => sha256Base64url(issuer)));
  const trusted = await findAuthorityCertificates(database.query, orgId, [...issuers]);
  const anchors = trusted.map((pem) => readCertificate(Buffer.from(certificateInPem(pem))));
  const fault = clientPathFault({ leaf, others, anchors, now: clock() });
  if (fault !== undefined) return fault;
  return hasClientName(leaf, name) ? undefined : "does not have the registered name";
}
