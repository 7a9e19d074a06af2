/** Creates, rotates and deletes the generations of a device CA. */
import type { Db } from "../../db/open.ts";
import { toRow } from "../../db/records.ts";
import type { AuditAction } from "../audit/actions.ts";
import type { Encryption } from "../encryption/encryption.ts";
import { type RecordDeps, recordChange } from "../record-changes.ts";
import { type CaKey, createCaKey } from "./ca-key.ts";
import { issueCaCertificate } from "./certificates.ts";
import {
  type CaRow,
  deleteDrainedGenerations,
  findExpiringGenerations,
  insertGeneration,
  retireGeneration,
} from "./device-ca.store.ts";
import { type CaGeneration, DRAIN_MS, ROTATE_AHEAD_MS } from "./generation.ts";

export interface OpenGeneration extends CaGeneration {
  readonly key: CaKey;
}

export interface RotationDeps extends RecordDeps {
  readonly encryption: Encryption;
}

/** Another command or node created the successor. */
export class ConcurrentRotation extends Error {
  constructor() {
    super("another command rotated the device CA meanwhile");
    this.name = "RotatedMeanwhile";
  }
}

export interface NewGeneration {
  readonly row: CaRow;
  readonly open: OpenGeneration;
}

/** A new key and its self-signed certificate; the caller stores them. */
export async function createGeneration(
  { clock, encryption }: Pick<RotationDeps, "clock" | "encryption">,
  orgId: string,
  generation: number,
): Promise<NewGeneration> {
  const now = clock();
  const { key, sealed } = await createCaKey(encryption, { orgId, generation });
  const { der, pem, notBefore, notAfter } = await issueCaCertificate(key, { orgId, generation, now });
  const stored = { orgId, generation, notAfter, createdAt: now, retiredAt: null };
  return {
    row: { ...toRow(stored), certificate: pem, private_key: sealed },
    open: { ...stored, certificatePem: pem, der, key, notBefore },
  };
}

/** @returns false when the organisation has a generation already */
export async function addFirstGeneration(
  deps: Pick<RotationDeps, "changes">,
  tx: Db,
  { row }: NewGeneration,
  by: { readonly actor: string; readonly address?: string },
): Promise<boolean> {
  if (!(await insertGeneration(tx, row))) return false;
  await recordGeneration(deps, tx, row, { ...by, action: "device-ca.created" });
  return true;
}

/** @param by.replaces must still be the newest. @throws ConcurrentRotation */
export async function rotateGeneration(
  deps: RotationDeps,
  orgId: string,
  { replaces, ...by }: { actor: string; address?: string; replaces: number },
): Promise<OpenGeneration> {
  const next = await createGeneration(deps, orgId, replaces + 1);
  return deps.database.transaction((tx) => adoptGeneration(deps, tx, next, { ...by, replaces }));
}

/** In the caller's transaction. @param by.replaces must still be the newest. @throws ConcurrentRotation */
export async function adoptGeneration(
  deps: Pick<RotationDeps, "changes">,
  tx: Db,
  { row, open }: NewGeneration,
  { replaces, ...by }: { readonly actor: string; readonly address?: string; readonly replaces: number },
): Promise<OpenGeneration> {
  const retired = await retireGeneration(tx, { orgId: row.org_id, generation: replaces }, row.created_at);
  if (!retired || !(await insertGeneration(tx, row))) throw new ConcurrentRotation();
  await recordGeneration(deps, tx, row, { ...by, action: "device-ca.rotated" });
  return open;
}

const recordGeneration = (
  deps: Pick<RotationDeps, "changes">,
  tx: Db,
  row: CaRow,
  by: { actor: string; address?: string; action: AuditAction },
): Promise<void> =>
  recordChange(tx, deps, "device-ca", {
    orgId: row.org_id,
    at: row.created_at,
    ...by,
    target: String(row.generation),
    details: { notAfter: new Date(row.not_after).toISOString() },
  });

/** Rotates generations close to their expiry. @returns how many, at most `limit`. @throws the first failure, after the others were tried */
export async function rotateDueGenerations(deps: RotationDeps, limit: number): Promise<number> {
  const before = deps.clock() + ROTATE_AHEAD_MS;
  const due = await findExpiringGenerations(deps.database.query, before, limit);
  const failures: unknown[] = [];
  for (const { orgId, generation } of due) {
    // A generation that fails comes first in every round: it must not block the others.
    await rotateGeneration(deps, orgId, { actor: "system", replaces: generation }).catch((error: unknown) => {
      if (!(error instanceof ConcurrentRotation)) failures.push(error);
    });
  }
  if (failures.length > 0) throw failures[0];
  return due.length;
}

/** Deletes generations whose last certificate has expired, with their keys. @returns how many, at most `limit` */
export const removeDrainedGenerations = (db: Db, now: number, limit: number): Promise<number> =>
  deleteDrainedGenerations(db, { retiredBefore: now - DRAIN_MS, now }, limit);
