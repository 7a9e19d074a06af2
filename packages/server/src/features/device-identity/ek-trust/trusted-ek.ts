/** Checks whether a TPM's endorsement key is trusted: by its vendor's certificate, an allow list, or both (device-identity.md §5). */
import { X509Certificate } from "node:crypto";
import { type Certificate, readCertificate } from "@signet/protocol/certificates/certificate";
import { sha256Base64url } from "@signet/protocol/hash";
import { type EkCertificate, ekFault, ekPathFault } from "@signet/protocol/tpm/ek-certificate";
import type { Clock } from "../../../core/clock.ts";
import type { Organisation } from "../../../core/organisations/organisation.ts";
import type { Database, Db } from "../../../db/open.ts";
import { CodedError } from "../../../http/coded-error.ts";
import { findRootsBySubject, isAllowedEk } from "./ek-trust.store.ts";
import { displayHash } from "./trust-file.ts";

export interface PresentedEk {
  readonly ek: EkCertificate;
  /** SHA-256 of its SPKI, base64url. */
  readonly ekHash: string;
  /** Intermediates. */
  readonly others: readonly Certificate[];
}

/**
 * Nothing is fetched from URLs in a certificate: its creator controls them.
 * @throws CodedError 403 ek_untrusted, ek_not_allowed
 */
export async function requireTrustedEk(
  { database, clock }: { readonly database: Database; readonly clock: Clock },
  { id: orgId, settings }: Organisation,
  presented: PresentedEk,
): Promise<void> {
  const { ek, ekHash } = presented;
  const fault = ekFault(ek);
  if (fault !== undefined) throw untrusted(fault);
  const { deviceEkTrust } = settings;
  if (deviceEkTrust !== "allowlist") await requirePath(database.query, orgId, presented, clock());
  if (deviceEkTrust !== "chain" && !(await isAllowedEk(database.query, orgId, ekHash))) {
    const description = "this endorsement key is not on the organisation's allow list";
    throw new CodedError(403, "ek_not_allowed", description, { cause: `EK ${displayHash(ekHash)}` });
  }
}

async function requirePath(db: Db, orgId: string, { ek, others }: PresentedEk, now: number): Promise<void> {
  const issuers = [ek.certificate, ...others].map(({ issuer }) => sha256Base64url(issuer));
  const roots = await findRootsBySubject(db, orgId, [...new Set(issuers)]);
  const anchors = roots.map((pem) => readCertificate(new X509Certificate(pem).raw));
  const fault = ekPathFault({ ek: ek.certificate, others, anchors, now });
  if (fault !== undefined) throw untrusted(fault);
}

const untrusted = (fault: string) =>
  new CodedError(403, "ek_untrusted", "the endorsement key's certificate is not trusted", {
    cause: `EK certificate: ${fault}`,
  });
