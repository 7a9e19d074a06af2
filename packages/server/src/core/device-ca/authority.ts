/**
 * The certificate authority of each organisation's devices: made with the organisation, or when first needed, its keys
 * sealed at rest, opened once and kept in a bounded cache, rotated long before its end (device-identity.md §2).
 */
import { X509Certificate } from "node:crypto";
import type { ChangeFeed } from "../../db/change-feed.ts";
import type { Database, Db } from "../../db/open.ts";
import { type RecordCache, recordCache } from "../cache/record-cache.ts";
import type { Clock } from "../clock.ts";
import type { Attestation } from "../devices/device.ts";
import type { Encryption } from "../encryption/encryption.ts";
import { openCaKey } from "./ca-key.ts";
import { type MadeCertificate, makeDeviceCertificate } from "./certificates.ts";
import { type CaRow, findGenerations } from "./device-ca.store.ts";
import { type CaGeneration, isDueForRotation } from "./generation.ts";
import {
  addFirstGeneration,
  makeGeneration,
  type OpenGeneration,
  RotatedMeanwhile,
  rotateDueGenerations,
  rotateGeneration,
} from "./rotation.ts";

export interface IssuedCertificate extends MadeCertificate {
  readonly generation: number;
  /** Of the generation that issued it. */
  readonly caPem: string;
}

export interface DeviceCa {
  /** Newest first; makes the first one where there is none yet. */
  generations(orgId: string): Promise<readonly CaGeneration[]>;
  /** The same with their keys: what signs CRLs and OCSP answers. */
  signers(orgId: string): Promise<readonly OpenGeneration[]>;
  /** The first one of an organisation that is just being made, in its transaction. */
  create(tx: Db, input: { orgId: string; actor: string }): Promise<void>;
  /** A certificate for the key, not written anywhere yet: sign first, insert in the transaction. */
  issue(input: {
    orgId: string;
    deviceId: string;
    spki: Buffer;
    attestation: Attestation;
  }): Promise<IssuedCertificate>;
  /** Whether one of the organisation's generations signed it (by its own key, not by name). */
  isIssuedHere(orgId: string, der: Buffer): Promise<boolean>;
  /** A new generation issues from now on. @throws RotatedMeanwhile when another command or node has made it */
  rotate(input: { orgId: string; actor: string; address?: string }): Promise<CaGeneration>;
  /** Rotates those that near their end. @returns how many there were, at most `limit`. @throws what failed first, at the end */
  rotateDue(limit: number): Promise<number>;
}

export interface DeviceCaDeps {
  readonly database: Database;
  readonly changes: ChangeFeed;
  readonly clock: Clock;
  readonly encryption: Encryption;
  readonly baseUrl: string;
}

type Cache = RecordCache<readonly OpenGeneration[]>;

export function deviceCa(deps: DeviceCaDeps & { capacity?: number }): DeviceCa {
  const { database, clock } = deps;
  const cache: Cache = recordCache({
    capacity: deps.capacity ?? 2_000,
    maxAgeMs: 30_000,
    clock,
    load: async (orgId) => {
      const rows = await findGenerations(database.query, orgId);
      return rows.length === 0 ? undefined : rows.map((row) => openGeneration(deps.encryption, row));
    },
  });
  deps.changes.subscribe((change) => {
    if (change === "everything") cache.clear();
    else if (change.topic === "device-ca") cache.evictOrganisation(change.orgId);
  });
  const signers = (orgId: string) => openGenerations(deps, cache, orgId);
  const rotate = async (orgId: string, by: { actor: string; address?: string; replaces: number }) => {
    const made = await rotateGeneration(deps, orgId, by);
    // The news went out before the commit: who asked in between has put what was there before into the cache.
    cache.evictOrganisation(orgId);
    return made;
  };
  return {
    generations: signers,
    signers,
    create: async (tx, { orgId, actor }) =>
      void (await addFirstGeneration(deps, tx, await makeGeneration(deps, orgId, 1), actor)),
    issue: async ({ orgId, ...subject }) => {
      const issuer = await issuingGeneration(deps, await signers(orgId), rotate);
      const input = { ...subject, baseUrl: deps.baseUrl, now: clock() };
      const made = await makeDeviceCertificate(issuer, input);
      return { ...made, generation: issuer.generation, caPem: issuer.certificatePem };
    },
    isIssuedHere: async (orgId, der) => isSignedByOne(await signers(orgId), der),
    rotate: async ({ orgId, ...by }) =>
      rotate(orgId, { ...by, replaces: newestOf(await signers(orgId)).generation }),
    rotateDue: (limit) => rotateDueGenerations(deps, limit),
  };
}

async function openGenerations(
  deps: DeviceCaDeps,
  cache: Cache,
  orgId: string,
): Promise<readonly OpenGeneration[]> {
  const known = cache.peek(orgId, "") ?? (await cache.get(orgId, ""));
  if (known) return known;
  const first = await makeGeneration(deps, orgId, 1);
  // Of several that make it at once, one wins: all read that one.
  await deps.database.transaction((tx) => addFirstGeneration(deps, tx, first, "system"));
  cache.evictOrganisation(orgId);
  return (await cache.get(orgId, "")) ?? [];
}

/** The one that issues: housekeeping has rotated it long ago, unless there was none for half a year. */
async function issuingGeneration(
  deps: DeviceCaDeps,
  known: readonly OpenGeneration[],
  rotate: (orgId: string, by: { actor: string; replaces: number }) => Promise<OpenGeneration>,
): Promise<OpenGeneration> {
  const newest = newestOf(known);
  if (!isDueForRotation(newest, deps.clock())) return newest;
  const { orgId, generation } = newest;
  return rotate(orgId, { actor: "system", replaces: generation }).catch(async (error: unknown) => {
    if (!(error instanceof RotatedMeanwhile)) throw error;
    const rows = await findGenerations(deps.database.query, orgId);
    return newestOf(rows.map((row) => openGeneration(deps.encryption, row)));
  });
}

function newestOf<Generation>(generations: readonly Generation[]): Generation {
  const [newest] = generations;
  if (!newest) throw new Error("the organisation has no device CA and none could be made");
  return newest;
}

/** A CA's own certificate is signed by its key too, and is no device's. */
function isSignedByOne(generations: readonly OpenGeneration[], der: Buffer): boolean {
  try {
    const certificate = new X509Certificate(der);
    // It reads PEM too, and what follows the certificate is not part of it.
    if (certificate.ca || !certificate.raw.equals(der)) return false;
    return generations.some(({ key }) => certificate.verify(key.publicKey));
  } catch {
    return false;
  }
}

export function openGeneration(encryption: Encryption, row: CaRow): OpenGeneration {
  const { raw, validFromDate } = new X509Certificate(row.certificate);
  return {
    orgId: row.org_id,
    generation: row.generation,
    certificatePem: row.certificate,
    der: raw,
    notBefore: validFromDate.getTime(),
    notAfter: row.not_after,
    createdAt: row.created_at,
    retiredAt: row.retired_at,
    key: openCaKey(encryption, row.private_key, { orgId: row.org_id, generation: row.generation }),
  };
}
