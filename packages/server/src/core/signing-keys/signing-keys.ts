/**
 * The signing keys of each organisation: created when first needed, encrypted at rest, cached, rotated with overlap. ES256
 * and RS256 are created together (OpenID Connect Discovery requires RS256), the others when an application uses them.
 */
import { createPrivateKey, createPublicKey, generateKeyPair, type KeyObject } from "node:crypto";
import { promisify } from "node:util";
import { jwkThumbprint, type PublicJwk, publicJwk } from "@signet/protocol/jose/jwk";
import type { TokenAlg } from "@signet/protocol/jose/jws";
import type { Db } from "../../db/open.ts";
import { toRecord } from "../../db/records.ts";
import { auditFields } from "../audit/audit.store.ts";
import { changeTrackingCache } from "../cache/record-cache.ts";
import type { Encryption } from "../encryption/encryption.ts";
import { sealedColumn } from "../encryption/sealed-columns.ts";
import { requireOpening, type TriedKeys, verifyStoredKeys } from "../encryption/stored-keys.ts";
import { type RecordDeps, recordChange } from "../record-changes.ts";
import {
  CLOCK_SKEW_MS,
  findActiveKey,
  MAX_TOKEN_LIFETIME_MS,
  PUBLISH_AHEAD_MS,
  type SigningKey,
} from "./signing-key.ts";
import {
  findAnySigningKey,
  findKeysToRotate,
  findSigningKeys,
  insertSigningKey,
  listSealedKeys,
  type SealedKey,
  type SigningKeyRow,
  setRetirement,
} from "./signing-keys.store.ts";

export interface SigningKeys {
  /** The keys of the JWKS: at least ES256 and RS256. */
  published(orgId: string): Promise<readonly SigningKey[]>;
  /** The key that signs now. */
  signer(orgId: string, alg: TokenAlg): Promise<SigningKey>;
  /**
   * Publishes a new key, which signs once caches of the JWKS have expired. The old key stays published until its last token
   * has expired; with `compromised` it leaves the JWKS immediately, which rejects its tokens.
   */
  rotate(orgId: string, alg: TokenAlg, by: RotationRequest): Promise<SigningKey>;
  /** Rotates keys that have reached their age. @returns how many were due, at most `limit`. @throws the first failure, after all */
  rotateDue(limit: number): Promise<number>;
}

export interface RotationRequest {
  readonly actor: string;
  readonly address?: string;
  readonly compromised: boolean;
  /** Rotate only while this is the newest key of its algorithm; otherwise ConcurrentRotation is thrown. */
  readonly replaces?: string;
}

export interface SigningKeyDeps extends RecordDeps {
  readonly encryption: Encryption;
  /** The age at which keys are rotated automatically; 0 turns this off. */
  readonly rotationDays: number;
  /** Replaces key generation in tests. */
  readonly newPrivateKey?: ((alg: TokenAlg) => Promise<KeyObject>) | undefined;
}

const DAY_MS = 86_400_000;
const FIRST_ALGORITHMS: readonly TokenAlg[] = ["ES256", "RS256"];

export function signingKeys(deps: SigningKeyDeps): SigningKeys {
  const { database, clock } = deps;
  const cache = changeTrackingCache<readonly SigningKey[]>(deps, "signing-key", {
    capacity: 5_000,
    load: async (orgId) =>
      (await findSigningKeys(database.query, orgId, clock())).map((row) => openKey(deps, row)),
  });

  const pendingFirstKeys = new Map<string, Promise<void>>();
  // Concurrent first requests share one key: an RSA key costs 0.1 s of CPU time.
  const ensureFirstKey = (orgId: string, alg: TokenAlg) => {
    const name = `${orgId} ${alg}`;
    const pending =
      pendingFirstKeys.get(name) ??
      addFirstKey(deps, orgId, alg).finally(() => {
        pendingFirstKeys.delete(name);
        // The change was published before the commit: a read in between has cached the old state.
        cache.evictOrganisation(orgId);
      });
    pendingFirstKeys.set(name, pending);
    return pending;
  };

  const loadKeys = async (orgId: string, algorithms: readonly TokenAlg[]) => {
    const now = clock();
    const keys = cache.peek(orgId, "") ?? (await cache.get(orgId, "")) ?? [];
    const missing = algorithms.filter((alg) => !findActiveKey(keys, alg, now));
    if (missing.length === 0) return keys;
    await Promise.all(missing.map((alg) => ensureFirstKey(orgId, alg)));
    return (await cache.get(orgId, "")) ?? [];
  };

  return {
    published: (orgId) => loadKeys(orgId, FIRST_ALGORITHMS),
    signer: async (orgId, alg) => {
      const cached = cache.peek(orgId, "");
      const signer =
        (cached && findActiveKey(cached, alg, clock())) ??
        findActiveKey(await loadKeys(orgId, [alg]), alg, clock());
      if (!signer) throw new Error(`the organisation has no ${alg} key and none could be created`);
      return signer;
    },
    rotate: (orgId, alg, by) => rotateKey(deps, orgId, alg, by),
    rotateDue: (limit) => rotateDueKeys(deps, limit),
  };
}

/** @throws when a stored key cannot be decrypted with this master key */
export async function requireReadableSigningKey(db: Db, encryption: Encryption): Promise<void> {
  requireOpening(await findAnySigningKey(db), (row) =>
    encryption.open(row.private_key, rowName(row.org_id, row.kid)),
  );
}

async function addFirstKey(deps: SigningKeyDeps, orgId: string, alg: TokenAlg): Promise<void> {
  const now = deps.clock();
  // No token of an earlier key exists, so the first key may sign immediately.
  const row = await newKeyRow(deps, { orgId, alg, now, activeFrom: now - CLOCK_SKEW_MS });
  await deps.database.transaction(async (tx) => {
    await insertSigningKey(tx, row);
    await deps.changes.publish(tx, { orgId, topic: "signing-key" });
  });
}

/** Another command or node has already rotated the key. */
export class ConcurrentRotation extends Error {
  constructor() {
    super("the key was rotated by another command or node");
    this.name = "RotatedMeanwhile";
  }
}

/** As `rotate`, in the given database. @throws ConcurrentRotation */
export async function rotateKey(
  deps: SigningKeyDeps,
  orgId: string,
  alg: TokenAlg,
  by: RotationRequest,
): Promise<SigningKey> {
  const successor = await newKeyRow(deps, { orgId, alg, now: deps.clock(), activeFrom: deps.clock() });
  return deps.database.transaction(async (tx) => {
    const now = deps.clock();
    const old = (await findSigningKeys(tx, orgId, now)).filter((key) => key.alg === alg);
    const newest = old.find(({ retire_at }) => retire_at === null);
    if (by.replaces !== undefined && newest?.kid !== by.replaces) throw new ConcurrentRotation();
    // Immediately on every node, also where the clock is behind.
    const immediately = now - CLOCK_SKEW_MS;
    const activeFrom = by.compromised || old.length === 0 ? immediately : now + PUBLISH_AHEAD_MS;
    const retireAt = by.compromised ? immediately : activeFrom + MAX_TOKEN_LIFETIME_MS;
    // A key that already retires keeps its time, unless a clock far ahead has set it.
    for (const { kid } of old) await setRetirement(tx, { orgId, kid }, retireAt);
    const row = { ...successor, created_at: now, active_from: activeFrom };
    if (!(await insertSigningKey(tx, row))) throw new ConcurrentRotation();
    const { actor, address, compromised } = by;
    await recordChange(tx, deps, "signing-key", {
      ...auditFields({ orgId, actor, address }, now),
      action: "signing-key.rotated",
      target: row.kid,
      details: { alg, compromised, activeFrom: new Date(activeFrom).toISOString() },
    });
    return openKey(deps, row);
  });
}

async function rotateDueKeys(deps: SigningKeyDeps, limit: number): Promise<number> {
  if (deps.rotationDays === 0) return 0;
  const now = deps.clock();
  const createdAt = { before: now - deps.rotationDays * DAY_MS, after: now + DAY_MS };
  const due = await findKeysToRotate(deps.database.query, createdAt, limit);
  const failures: unknown[] = [];
  for (const { orgId, alg, kid } of due) {
    const by = { actor: "system", compromised: false, replaces: kid };
    // A key that cannot be rotated comes first in every round: the others must not wait for it.
    await rotateKey(deps, orgId, alg as TokenAlg, by).catch((error: unknown) => {
      if (!(error instanceof ConcurrentRotation)) failures.push(error);
    });
  }
  if (failures.length > 0) throw failures[0];
  return due.length;
}

async function newKeyRow(
  deps: SigningKeyDeps,
  { orgId, alg, now, activeFrom }: { orgId: string; alg: TokenAlg; now: number; activeFrom: number },
): Promise<SigningKeyRow> {
  const privateKey = await (deps.newPrivateKey ?? generatePrivateKey)(alg);
  const kid = jwkThumbprint(publicJwk(privateKey, "", alg));
  const pkcs8 = privateKey.export({ format: "der", type: "pkcs8" });
  return {
    org_id: orgId,
    kid,
    alg,
    public_jwk: JSON.stringify(publicJwk(privateKey, kid, alg)),
    private_key: deps.encryption.seal(pkcs8, rowName(orgId, kid)),
    created_at: now,
    active_from: activeFrom,
    retire_at: null,
  };
}

function openKey(deps: SigningKeyDeps, row: SigningKeyRow): SigningKey {
  const der = deps.encryption.open(row.private_key, rowName(row.org_id, row.kid));
  const privateKey = createPrivateKey({ key: der, format: "der", type: "pkcs8" });
  return {
    ...toRecord(row),
    alg: row.alg as TokenAlg,
    publicJwk: JSON.parse(row.public_jwk) as PublicJwk,
    publicKey: createPublicKey(privateKey),
    privateKey,
  };
}

/** Decrypts every stored private key, to check the master key. Changes nothing. */
export const checkStoredSigningKeys = ({
  database,
  encryption,
}: Pick<SigningKeyDeps, "database" | "encryption">): Promise<TriedKeys> =>
  verifyStoredKeys<SealedKey>(
    (page) => listSealedKeys(database.query, page),
    (key) => encryption.open(key.private_key, rowName(key.org_id, key.kid)),
  );

export const sealedSigningKeys = sealedColumn({
  table: "signing_key",
  column: "private_key",
  key: ["org_id", "kid"],
  rowName: ({ org_id, kid }) => rowName(String(org_id), String(kid)),
});

const rowName = (orgId: string, kid: string) => `signing-key|${orgId}|${kid}`;

const generate = promisify(generateKeyPair) as unknown as (
  type: string,
  options: object,
) => Promise<{ privateKey: KeyObject }>;

export async function generatePrivateKey(alg: TokenAlg): Promise<KeyObject> {
  const generators = {
    ES256: () => generate("ec", { namedCurve: "P-256" }),
    RS256: () => generate("rsa", { modulusLength: 2048 }),
    PS256: () => generate("rsa", { modulusLength: 2048 }),
    EdDSA: () => generate("ed25519", {}),
    "ML-DSA-44": () => generate("ml-dsa-44", {}),
    "ML-DSA-65": () => generate("ml-dsa-65", {}),
    "ML-DSA-87": () => generate("ml-dsa-87", {}),
  } satisfies Record<TokenAlg, () => Promise<{ privateKey: KeyObject }>>;
  return (await generators[alg]()).privateKey;
}
