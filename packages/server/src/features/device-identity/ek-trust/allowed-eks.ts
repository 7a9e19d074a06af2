/** The allow list of endorsement keys, e.g. of the computers an organisation bought. */
import { createPublicKey } from "node:crypto";
import { basename } from "node:path";
import { sha256Base64url } from "@signet/protocol/hash";
import { ekFault, ekSpki, readEkCertificate } from "@signet/protocol/tpm/ek-certificate";
import { recordAuditEvent } from "../../../core/audit/audit.store.ts";
import { type AllowedEk, deleteAllowedEk, insertAllowedEk } from "./ek-trust.store.ts";
import { type EkTrustDeps, nameOf, type TrustChange } from "./roots.ts";
import { displayHash } from "./shown-hash.ts";
import { InvalidTrustFile, type TrustBlock, type TrustFile } from "./trust-file.ts";

const MAX_LABEL_LENGTH = 200;

/**
 * Imports all files or none. Certificates may be as read from TPM NV memory.
 * @param input.label default: the file name
 * @returns the new ones. @throws InvalidTrustFile that names the file and the invalid part
 */
export async function addAllowedEks(
  { database, clock }: EkTrustDeps,
  {
    orgId,
    actor,
    files,
    label,
  }: TrustChange & { readonly files: readonly TrustFile[]; readonly label?: string },
): Promise<AllowedEk[]> {
  const now = clock();
  const eks = files.flatMap((file) =>
    file.blocks.map((block, index): AllowedEk => {
      const ekHash = hashOf(block, `${file.name}, part ${index + 1}`);
      const named = nameOf(label ?? basename(file.name)).slice(0, MAX_LABEL_LENGTH);
      return { orgId, ekHash, label: named, createdAt: now, createdBy: actor };
    }),
  );
  return database.transaction(async (tx) => {
    const added: AllowedEk[] = [];
    for (const ek of eks) if (await insertAllowedEk(tx, ek)) added.push(ek);
    for (const ek of added)
      await recordAuditEvent(tx, {
        orgId,
        at: now,
        actor,
        action: "device-ek.allowed",
        target: displayHash(ek.ekHash),
        details: { label: ek.label },
      });
    return added;
  });
}

/** Enrolled devices stay. @param ekHash base64url. @returns false when it is not on the list */
export async function removeAllowedEk(
  { database, clock }: EkTrustDeps,
  { orgId, actor, ekHash }: TrustChange & { readonly ekHash: string },
): Promise<boolean> {
  return database.transaction(async (tx) => {
    if (!(await deleteAllowedEk(tx, orgId, ekHash))) return false;
    const event = {
      orgId,
      at: clock(),
      actor,
      action: "device-ek.removed" as const,
      target: displayHash(ekHash),
    };
    await recordAuditEvent(tx, event);
    return true;
  });
}

function hashOf({ kind, der }: TrustBlock, place: string): string {
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
