/** The certificates that paths of EK certificates may end at: those of TPM vendors, imported by each organisation for itself. */
import { type Certificate, readCertificate } from "@signet/protocol/certificates/certificate";
import { sha256Base64url } from "@signet/protocol/hash";
import { trustedFault } from "@signet/protocol/tpm/ek-certificate";
import { recordAuditEvent } from "../../../core/audit/audit.store.ts";
import type { Clock } from "../../../core/clock.ts";
import { holdOrganisation } from "../../../core/organisations/organisations.store.ts";
import type { Database } from "../../../db/open.ts";
import { countRoots, type DeviceRoot, deleteRoot, insertRoot } from "./ek-trust.store.ts";
import { shownHash } from "./shown-hash.ts";
import { type TrustFile, UnusableTrustFile } from "./trust-file.ts";

export interface EkTrustDeps {
  readonly database: Database;
  readonly clock: Clock;
}

/** Who does it, as the audit log has it. */
export interface TrustChange {
  readonly orgId: string;
  readonly actor: string;
}

/** All vendors that there are have a few hundred between them. */
export const MOST_ROOTS = 1_000;
const LONGEST_SUBJECT = 300;

/**
 * All of the files, or none.
 * @returns those that are new
 * @throws UnusableTrustFile naming the file and the certificate that is no authority's, or not good now
 */
export async function importRoots(
  { database, clock }: EkTrustDeps,
  { orgId, actor }: TrustChange,
  files: readonly TrustFile[],
): Promise<DeviceRoot[]> {
  const now = clock();
  const roots = files.flatMap((file) =>
    file.blocks.map((block, index) => {
      const place = `${file.name}, certificate ${index + 1}`;
      const certificate = certificateOf(block.kind === "certificate" ? block.der : undefined, place);
      const fault = trustedFault(certificate, now);
      if (fault !== undefined) throw new UnusableTrustFile(`${place} ${fault}`);
      return rootOf(certificate, { orgId, createdAt: now, createdBy: actor });
    }),
  );
  return database.transaction(async (tx) => {
    // Two at once are counted one after the other.
    await holdOrganisation(tx, orgId);
    const added: DeviceRoot[] = [];
    for (const root of roots) if (await insertRoot(tx, root)) added.push(root);
    if ((await countRoots(tx, orgId)) > MOST_ROOTS)
      throw new UnusableTrustFile(`an organisation has at most ${MOST_ROOTS} roots`);
    for (const { fingerprint, subject } of added)
      await recordAuditEvent(tx, {
        orgId,
        at: now,
        actor,
        action: "device-root.imported",
        target: shownHash(fingerprint),
        details: { subject },
      });
    return added;
  });
}

/** Devices that were enrolled before stay. @param fingerprint base64url. @returns false when there is none such */
export async function removeRoot(
  { database, clock }: EkTrustDeps,
  { orgId, actor, fingerprint }: TrustChange & { readonly fingerprint: string },
): Promise<boolean> {
  return database.transaction(async (tx) => {
    if (!(await deleteRoot(tx, orgId, fingerprint))) return false;
    const event = {
      orgId,
      at: clock(),
      actor,
      action: "device-root.removed" as const,
      target: shownHash(fingerprint),
    };
    await recordAuditEvent(tx, event);
    return true;
  });
}

/** @param place for the error: file and number */
export function certificateOf(der: Buffer | undefined, place: string): Certificate {
  if (!der) throw new UnusableTrustFile(`${place} is not a certificate`);
  try {
    return readCertificate(der);
  } catch {
    throw new UnusableTrustFile(`${place} cannot be read`);
  }
}

function rootOf(
  { der, x509, subject }: Certificate,
  of: Pick<DeviceRoot, "orgId" | "createdAt" | "createdBy">,
): DeviceRoot {
  return {
    ...of,
    fingerprint: sha256Base64url(der),
    certificate: x509.toString(),
    subject: nameOf(x509.subject),
    subjectHash: sha256Base64url(subject),
    notAfter: x509.validToDate.getTime(),
  };
}

/** On one line, without what could make it look like another. */
export function nameOf(subject: string | undefined): string {
  const parts = (subject ?? "").split("\n").join(", ");
  return parts.replace(/[\p{Cc}\p{Cf}]/gu, "?").slice(0, LONGEST_SUBJECT);
}
