/** Imports and removes the TPM vendors' root certificates that an organisation trusts. */
import { type Certificate, readCertificate } from "@signet/protocol/certificates/certificate";
import { sha256Base64url } from "@signet/protocol/hash";
import { trustedFault } from "@signet/protocol/tpm/ek-certificate";
import { recordAuditEvent } from "../../../core/audit/audit.store.ts";
import type { Clock } from "../../../core/clock.ts";
import { lockOrganisation } from "../../../core/organisations/organisations.store.ts";
import type { Database } from "../../../db/open.ts";
import { countRoots, type DeviceRoot, deleteRoot, insertRoot } from "./ek-trust.store.ts";
import { displayHash } from "./shown-hash.ts";
import { InvalidTrustFile, type TrustFile } from "./trust-file.ts";

export interface EkTrustDeps {
  readonly database: Database;
  readonly clock: Clock;
}

export interface TrustChange {
  readonly orgId: string;
  readonly actor: string;
}

/** All vendors together have a few hundred. */
export const MAX_DEVICE_ROOTS = 1_000;
const MAX_SUBJECT_LENGTH = 300;

/**
 * Imports all files or none.
 * @returns the new ones
 * @throws InvalidTrustFile that names the file and the invalid certificate
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
      const certificate = parseCertificate(block.kind === "certificate" ? block.der : undefined, place);
      const fault = trustedFault(certificate, now);
      if (fault !== undefined) throw new InvalidTrustFile(`${place} ${fault}`);
      return toRoot(certificate, { orgId, createdAt: now, createdBy: actor });
    }),
  );
  return database.transaction(async (tx) => {
    // Serialises simultaneous imports, so that both are counted.
    await lockOrganisation(tx, orgId);
    const added: DeviceRoot[] = [];
    for (const root of roots) if (await insertRoot(tx, root)) added.push(root);
    if ((await countRoots(tx, orgId)) > MAX_DEVICE_ROOTS)
      throw new InvalidTrustFile(`an organisation has at most ${MAX_DEVICE_ROOTS} roots`);
    for (const { fingerprint, subject } of added)
      await recordAuditEvent(tx, {
        orgId,
        at: now,
        actor,
        action: "device-root.imported",
        target: displayHash(fingerprint),
        details: { subject },
      });
    return added;
  });
}

/** Enrolled devices stay. @param fingerprint base64url. @returns false when there is no such root */
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
      target: displayHash(fingerprint),
    };
    await recordAuditEvent(tx, event);
    return true;
  });
}

/** @param place file and number, for the error */
export function parseCertificate(der: Buffer | undefined, place: string): Certificate {
  if (!der) throw new InvalidTrustFile(`${place} is not a certificate`);
  try {
    return readCertificate(der);
  } catch {
    throw new InvalidTrustFile(`${place} is malformed`);
  }
}

function toRoot(
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

/** One line, without control and bidirectional characters that could disguise it. */
export function nameOf(subject: string | undefined): string {
  const parts = (subject ?? "").split("\n").join(", ");
  return parts.replace(/[\p{Cc}\p{Cf}]/gu, "?").slice(0, MAX_SUBJECT_LENGTH);
}
