/**
 * The device CA of each organisation: created with the organisation or on first use, keys encrypted at rest and cached when
 * opened, rotated long before it expires (device-identity.md §2).
 */
import { X509Certificate } from "node:crypto";
import type { Db } from "../../db/open.ts";
import { toRecord } from "../../db/records.ts";
import { changeTrackingCache, type RecordCache } from "../cache/record-cache.ts";
import type { Attestation } from "../devices/device.ts";
import type { Encryption } from "../encryption/encryption.ts";
import { openCaKey } from "./ca-key.ts";
import { issueDeviceCertificate, type SignedCertificate } from "./certificates.ts";
import { type CaRow, findGenerations } from "./device-ca.store.ts";
import { type CaGeneration, isDueForRotation } from "./generation.ts";
import {
  addFirstGeneration,
  adoptGeneration,
  ConcurrentRotation,
  createGeneration,
  type OpenGeneration,
  type RotationDeps,
  rotateDueGenerations,
  rotateGeneration,
} from "./rotation.ts";

export interface IssuedCertificate extends SignedCertificate {
  readonly generation: number;
  /** The issuing CA certificate. */
  readonly caPem: string;
}

export interface DeviceCa {
  /** Newest first; creates the first one if there is none. */
  generations(orgId: string): Promise<readonly CaGeneration[]>;
  /** The same with their keys, to sign CRLs and OCSP responses. */
  signers(orgId: string): Promise<readonly OpenGeneration[]>;
  /** The first generation, in the transaction that creates the organisation. */
  create(tx: Db, input: { orgId: string; actor: string; address?: string }): Promise<void>;
  /** Signs a certificate for the key; the caller stores it. */
  issue(input: {
    orgId: string;
    deviceId: string;
    spki: Buffer;
    attestation: Attestation;
  }): Promise<IssuedCertificate>;
  /** Whether the key of one of the organisation's generations signed the certificate. */
  isIssuedByCa(orgId: string, der: Buffer): Promise<boolean>;
  /** A new generation issues from now on. @throws ConcurrentRotation when another command or node was faster */
  rotate(input: { orgId: string; actor: string; address?: string }): Promise<CaGeneration>;
  /** The same in two steps, for a caller with a transaction of its own: `adopt` runs in it. */
  prepareRotation(orgId: string): Promise<PreparedRotation>;
  /** Rotates generations close to their expiry. @returns how many, at most `limit`. @throws the first failure, after the others were tried */
  rotateDue(limit: number): Promise<number>;
}

export interface PreparedRotation {
  /** @throws ConcurrentRotation when another command or node was faster */
  adopt(tx: Db, by: { readonly actor: string; readonly address?: string }): Promise<CaGeneration>;
}

export interface DeviceCaDeps extends RotationDeps {
  readonly baseUrl: string;
}

type Cache = RecordCache<readonly OpenGeneration[]>;

export function deviceCa(deps: DeviceCaDeps): DeviceCa {
  const { database, clock } = deps;
  const cache: Cache = changeTrackingCache(deps, "device-ca", {
    capacity: 2_000,
    load: async (orgId) => {
      const rows = await findGenerations(database.query, orgId);
      return rows.length === 0 ? undefined : rows.map((row) => openGeneration(deps.encryption, row));
    },
  });
  const signers = (orgId: string) => openGenerations(deps, cache, orgId);
  const rotate = async (orgId: string, by: { actor: string; address?: string; replaces: number }) => {
    try {
      return await rotateGeneration(deps, orgId, by);
    } finally {
      // The change was published before the commit: a read in between may have cached the old generations. Whoever was too
      // slow has old ones as well, and may not have heard of the new one yet.
      cache.evictOrganisation(orgId);
    }
  };
  return {
    generations: signers,
    signers,
    create: async (tx, { orgId, ...by }) =>
      void (await addFirstGeneration(deps, tx, await createGeneration(deps, orgId, 1), by)),
    issue: async ({ orgId, ...subject }) => {
      const issuer = await issuingGeneration(deps, await signers(orgId), rotate);
      const input = { ...subject, baseUrl: deps.baseUrl, now: clock() };
      const issued = await issueDeviceCertificate(issuer, input);
      return { ...issued, generation: issuer.generation, caPem: issuer.certificatePem };
    },
    isIssuedByCa: async (orgId, der) => isSignedByAny(await signers(orgId), der),
    rotate: async ({ orgId, ...by }) =>
      rotate(orgId, { ...by, replaces: newestGeneration(await signers(orgId)).generation }),
    prepareRotation: async (orgId) => {
      const replaces = newestGeneration(await signers(orgId)).generation;
      const next = await createGeneration(deps, orgId, replaces + 1);
      return { adopt: (tx, by) => adoptGeneration(deps, tx, next, { ...by, replaces }) };
    },
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
  const first = await createGeneration(deps, orgId, 1);
  // Of several simultaneous first uses one wins; all read that one.
  await deps.database.transaction((tx) => addFirstGeneration(deps, tx, first, { actor: "system" }));
  cache.evictOrganisation(orgId);
  return (await cache.get(orgId, "")) ?? [];
}

/** The newest generation. Housekeeping rotates it in time, unless it didn't run for half a year. */
async function issuingGeneration(
  deps: DeviceCaDeps,
  known: readonly OpenGeneration[],
  rotate: (orgId: string, by: { actor: string; replaces: number }) => Promise<OpenGeneration>,
): Promise<OpenGeneration> {
  const newest = newestGeneration(known);
  if (!isDueForRotation(newest, deps.clock())) return newest;
  const { orgId, generation } = newest;
  return rotate(orgId, { actor: "system", replaces: generation }).catch(async (error: unknown) => {
    if (!(error instanceof ConcurrentRotation)) throw error;
    const rows = await findGenerations(deps.database.query, orgId);
    return newestGeneration(rows.map((row) => openGeneration(deps.encryption, row)));
  });
}

function newestGeneration<Generation>(generations: readonly Generation[]): Generation {
  const [newest] = generations;
  if (!newest) throw new Error("the organisation has no device CA and none could be created");
  return newest;
}

/** False for the CA certificate itself, which its key signed, too. */
function isSignedByAny(generations: readonly OpenGeneration[], der: Buffer): boolean {
  try {
    const certificate = new X509Certificate(der);
    // X509Certificate also reads PEM, and ignores trailing bytes.
    if (certificate.ca || !certificate.raw.equals(der)) return false;
    return generations.some(({ key }) => certificate.verify(key.publicKey));
  } catch {
    return false;
  }
}

function openGeneration(encryption: Encryption, row: CaRow): OpenGeneration {
  const { certificate, private_key, ...columns } = row;
  const { raw, validFromDate } = new X509Certificate(certificate);
  const stored = toRecord(columns);
  return {
    ...stored,
    certificatePem: certificate,
    der: raw,
    notBefore: validFromDate.getTime(),
    key: openCaKey(encryption, private_key, stored),
  };
}
