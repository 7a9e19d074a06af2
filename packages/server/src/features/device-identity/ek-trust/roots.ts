/** Imports and removes what an organisation trusts: TPM vendors' root certificates, and single endorsement keys. */

import { createPublicKey } from "node:crypto";
import { basename } from "node:path";
import { type Certificate, readCertificate } from "@signet/protocol/certificates/certificate";
import { sha256Base64url } from "@signet/protocol/hash";
import { ekFault, ekSpki, readEkCertificate, trustedFault } from "@signet/protocol/tpm/ek-certificate";
import { type Act, type AuditEvent, recordAuditEvent } from "../../../core/audit/audit.store.ts";
import type { CoreDeps } from "../../../core/core-deps.ts";
import { lockOrganisation } from "../../../core/organisations/organisations.store.ts";
import type { Db } from "../../../db/open.ts";
import {
  type AllowedEk,
  countRoots,
  type DeviceRoot,
  deleteAllowedEk,
  deleteRoot,
  insertAllowedEk,
  insertRoot,
} from "./ek-trust.store.ts";
import { displayHash, InvalidTrustFile, type TrustBlock, type TrustFile } from "./trust-file.ts";

/** All vendors together have a few hundred. */
export const MAX_DEVICE_ROOTS = 1_000;
const MAX_SUBJECT_LENGTH = 300;
const MAX_LABEL_LENGTH = 200;

/**
 * Imports all files or none.
 * @returns the new ones. @throws InvalidTrustFile that names the file and the invalid certificate
 */
export async function importRoots(
  { database, clock }: CoreDeps,
  by: Act,
  files: readonly TrustFile[],
): Promise<DeviceRoot[]> {
  const { orgId, actor: createdBy } = by;
  const now = clock();
  const roots = files.flatMap((file) =>
    file.blocks.map((block, index) => {
      const place = `${file.name}, certificate ${index + 1}`;
      const certificate = parseCertificate(block, place);
      const fault = trustedFault(certificate, now);
      if (fault !== undefined) throw new InvalidTrustFile(`${place} ${fault}`);
      return toRoot(certificate, { orgId, createdAt: now, createdBy });
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
      await recordTrust(
        tx,
        { ...by, at: now, action: "device-root.imported", details: { subject } },
        fingerprint,
      );
    return added;
  });
}

/**
 * Imports all files or none. Certificates may be as read from TPM NV memory.
 * @param input.label default: the file name
 * @returns the new ones. @throws InvalidTrustFile that names the file and the invalid part
 */
export async function addAllowedEks(
  { database, clock }: CoreDeps,
  { files, label, ...by }: Act & { readonly files: readonly TrustFile[]; readonly label?: string },
): Promise<AllowedEk[]> {
  const { orgId, actor: createdBy } = by;
  const now = clock();
  const eks = files.flatMap((file) =>
    file.blocks.map((block, index): AllowedEk => {
      const ekHash = ekHashOf(block, `${file.name}, part ${index + 1}`);
      const named = nameOf(label ?? basename(file.name)).slice(0, MAX_LABEL_LENGTH);
      return { orgId, ekHash, label: named, createdAt: now, createdBy };
    }),
  );
  return database.transaction(async (tx) => {
    const added: AllowedEk[] = [];
    for (const ek of eks) if (await insertAllowedEk(tx, ek)) added.push(ek);
    for (const { ekHash, label } of added)
      await recordTrust(tx, { ...by, at: now, action: "device-ek.allowed", details: { label } }, ekHash);
    return added;
  });
}

/** Enrolled devices stay. @param fingerprint base64url. @returns false when there is no such root */
export const removeRoot = (
  deps: CoreDeps,
  { fingerprint, ...by }: Act & { readonly fingerprint: string },
): Promise<boolean> => remove(deps, { ...by, action: "device-root.removed" }, fingerprint, deleteRoot);

/** Enrolled devices stay. @param ekHash base64url. @returns false when it is not on the list */
export const removeAllowedEk = (
  deps: CoreDeps,
  { ekHash, ...by }: Act & { readonly ekHash: string },
): Promise<boolean> => remove(deps, { ...by, action: "device-ek.removed" }, ekHash, deleteAllowedEk);

function remove(
  { database, clock }: CoreDeps,
  event: Pick<AuditEvent, "orgId" | "actor" | "action">,
  hash: string,
  deleteRow: (tx: Db, orgId: string, hash: string) => Promise<boolean>,
): Promise<boolean> {
  return database.transaction(async (tx) => {
    if (!(await deleteRow(tx, event.orgId, hash))) return false;
    await recordTrust(tx, { ...event, at: clock() }, hash);
    return true;
  });
}

const recordTrust = (tx: Db, event: Omit<AuditEvent, "target">, hash: string): Promise<void> =>
  recordAuditEvent(tx, { ...event, target: displayHash(hash) });

/** @param place file and number, for the error */
function parseCertificate({ kind, der }: TrustBlock, place: string): Certificate {
  if (kind !== "certificate") throw new InvalidTrustFile(`${place} is not a certificate`);
  try {
    return readCertificate(der);
  } catch {
    throw new InvalidTrustFile(`${place} is malformed`);
  }
}

const toRoot = (
  { der, x509, subject }: Certificate,
  of: Pick<DeviceRoot, "orgId" | "createdAt" | "createdBy">,
): DeviceRoot => ({
  ...of,
  fingerprint: sha256Base64url(der),
  certificate: x509.toString(),
  subject: nameOf(x509.subject),
  subjectHash: sha256Base64url(subject),
  notAfter: x509.validToDate.getTime(),
});

/** One line, without control and bidirectional characters that could disguise it. */
function nameOf(subject: string | undefined): string {
  const parts = (subject ?? "").split("\n").join(", ");
  return parts.replace(/[\p{Cc}\p{Cf}]/gu, "?").slice(0, MAX_SUBJECT_LENGTH);
}

/** SHA-256 of the key, base64url. @throws InvalidTrustFile */
export function ekHashOf({ kind, der }: TrustBlock, place: string): string {
  try {
    if (kind === "public-key")
      return sha256Base64url(ekSpki(createPublicKey({ key: der, format: "der", type: "spki" })));
    const ek = readEkCertificate(der);
    const fault = ekFault(ek);
    if (fault !== undefined)
      throw new InvalidTrustFile(`${place} is not an endorsement key certificate: ${fault}`);
    return sha256Base64url(ek.spki);
  } catch (error) {
    if (error instanceof InvalidTrustFile) throw error;
    throw new InvalidTrustFile(
      `${place} is neither an EK certificate nor a public key of RSA-2048, P-256 or P-384`,
    );
  }
}
