/**
 * Each organisation's signing keys: made when first needed, encrypted at rest, imported once and kept in a bounded
 * cache, rotated with overlap. ES256 and RS256 are made together (OpenID Connect Discovery asks for RS256), the others
 * when an application first wants them.
 */
import { createPrivateKey, createPublicKey, generateKeyPair, type KeyObject } from "node:crypto";
import { promisify } from "node:util";
import { jwkThumbprint, type PublicJwk, publicJwk } from "@signet/protocol/jose/jwk";
import type { SigningAlg } from "@signet/protocol/jose/jws";
import type { ChangeFeed } from "../../db/change-feed.ts";
import type { Database, Db } from "../../db/open.ts";
import { recordAuditEvent } from "../audit/audit.store.ts";
import { recordCache } from "../cache/record-cache.ts";
import type { Clock } from "../clock.ts";
import type { Encryption } from "../encryption/encryption.ts";
import { requireOpening, type TriedKeys, tryKeys } from "../encryption/stored-keys.ts";
import {
  CLOCK_SKEW_MS,
  LONGEST_TOKEN_MS,
  PUBLISH_AHEAD_MS,
  type SigningKey,
  signerOf,
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
  /** All that the JWKS shows, ES256 and RS256 at least. */
  published(orgId: string): Promise<readonly SigningKey[]>;
  /** The key that signs now. */
  signer(orgId: string, alg: SigningAlg): Promise<SigningKey>;
  /**
   * A new key for the algorithm: published now, signing once every reader of the JWKS must know it, while the old one
   * stays published until the last token it signed has expired.
   * @param compromised the old keys leave the JWKS at once, and all that they signed with them
   */
  rotate(orgId: string, alg: SigningAlg, by: RotatedBy): Promise<SigningKey>;
  /** Rotates the keys that have reached their age. @returns how many there were, at most `limit`. @throws what failed first, at the end */
  rotateDue(limit: number): Promise<number>;
}

/** Who rotates, and from where, as the audit log has it. */
export interface RotatedBy {
  readonly actor: string;
  readonly address?: string;
  readonly compromised: boolean;
  /** Only while this is still the newest key of its algorithm: else RotatedMeanwhile is thrown. */
  readonly replaces?: string;
}

export interface SigningKeyDeps {
  readonly database: Database;
  readonly changes: ChangeFeed;
  readonly clock: Clock;
  readonly encryption: Encryption;
  /** The age at which a key is rotated without anybody asking; 0: never. */
  readonly rotationDays: number;
  /** Where new private keys come from; absent: they are generated. */
  readonly newPrivateKey?: ((alg: SigningAlg) => Promise<KeyObject>) | undefined;
}

const DAY_MS = 86_400_000;
const FIRST_ALGORITHMS: readonly SigningAlg[] = ["ES256", "RS256"];

export function signingKeys(deps: SigningKeyDeps & { capacity?: number }): SigningKeys {
  const { database, changes, clock } = deps;
  const cache = recordCache<readonly SigningKey[]>({
    capacity: deps.capacity ?? 5_000,
    maxAgeMs: 30_000,
    clock,
    load: async (orgId) =>
      (await findSigningKeys(database.query, orgId, clock())).map((row) => openKey(deps, row)),
  });
  changes.subscribe((change) => {
    if (change === "everything") cache.clear();
    else if (change.topic === "signing-key") cache.evictOrganisation(change.orgId);
  });

  const making = new Map<string, Promise<void>>();
  // A hundred first requests at once make one key: an RSA key costs a tenth of a second of a processor.
  const makeFirstKey = (orgId: string, alg: SigningAlg) => {
    const name = `${orgId} ${alg}`;
    const made =
      making.get(name) ??
      addFirstKey(deps, orgId, alg).finally(() => {
        making.delete(name);
        // The news went out before the commit: who asked in between has put what was there before into the cache.
        cache.evictOrganisation(orgId);
      });
    making.set(name, made);
    return made;
  };

  const keysOf = async (orgId: string, algorithms: readonly SigningAlg[]) => {
    const now = clock();
    const keys = cache.peek(orgId, "") ?? (await cache.get(orgId, "")) ?? [];
    const missing = algorithms.filter((alg) => !signerOf(keys, alg, now));
    if (missing.length === 0) return keys;
    await Promise.all(missing.map((alg) => makeFirstKey(orgId, alg)));
    return (await cache.get(orgId, "")) ?? [];
  };

  return {
    published: (orgId) => keysOf(orgId, FIRST_ALGORITHMS),
    signer: async (orgId, alg) => {
      const kept = cache.peek(orgId, "");
      const signer =
        (kept && signerOf(kept, alg, clock())) ?? signerOf(await keysOf(orgId, [alg]), alg, clock());
      if (!signer) throw new Error(`the organisation has no ${alg} key and none could be made`);
      return signer;
    },
    rotate: (orgId, alg, by) => rotateKey(deps, orgId, alg, by),
    rotateDue: (limit) => rotateDueKeys(deps, limit),
  };
}

/** @throws when a stored key does not open */
export async function requireOpeningKey(db: Db, encryption: Encryption): Promise<void> {
  requireOpening(await findAnySigningKey(db), (row) =>
    encryption.open(row.private_key, rowName(row.org_id, row.kid)),
  );
}

async function addFirstKey(deps: SigningKeyDeps, orgId: string, alg: SigningAlg): Promise<void> {
  const now = deps.clock();
  // Nobody can have cached a JWKS in which the first key is missing and needed, so it signs at once.
  const row = await makeKey(deps, { orgId, alg, now, activeFrom: now - CLOCK_SKEW_MS });
  await deps.database.transaction(async (tx) => {
    await insertSigningKey(tx, row);
    await deps.changes.publish(tx, { orgId, topic: "signing-key" });
  });
}

/** Another command, or another node, has made the successor. */
export class RotatedMeanwhile extends Error {
  constructor() {
    super("another command rotated the key meanwhile");
    this.name = "RotatedMeanwhile";
  }
}

/** @param by.replaces only while this is still the newest key. @throws RotatedMeanwhile */
async function rotateKey(
  deps: SigningKeyDeps,
  orgId: string,
  alg: SigningAlg,
  by: RotatedBy,
): Promise<SigningKey> {
  const made = await makeKey(deps, { orgId, alg, now: deps.clock(), activeFrom: deps.clock() });
  return deps.database.transaction(async (tx) => {
    const now = deps.clock();
    const old = (await findSigningKeys(tx, orgId, now)).filter((key) => key.alg === alg);
    const newest = old.find(({ retire_at }) => retire_at === null);
    if (by.replaces !== undefined && newest?.kid !== by.replaces) throw new RotatedMeanwhile();
    // At once means on every node, also where the clock is behind.
    const atOnce = now - CLOCK_SKEW_MS;
    const activeFrom = by.compromised || old.length === 0 ? atOnce : now + PUBLISH_AHEAD_MS;
    const retireAt = by.compromised ? atOnce : activeFrom + LONGEST_TOKEN_MS;
    // Those that retire already keep their time, unless a clock far ahead has set it.
    for (const { kid } of old) await setRetirement(tx, { orgId, kid }, retireAt);
    const row = { ...made, created_at: now, active_from: activeFrom };
    if (!(await insertSigningKey(tx, row))) throw new RotatedMeanwhile();
    await recordAuditEvent(tx, {
      orgId,
      at: now,
      actor: by.actor,
      address: by.address,
      action: "signing-key.rotated",
      target: row.kid,
      details: { alg, compromised: by.compromised, activeFrom: new Date(activeFrom).toISOString() },
    });
    await deps.changes.publish(tx, { orgId, topic: "signing-key" });
    return openKey(deps, row);
  });
}

async function rotateDueKeys(deps: SigningKeyDeps, limit: number): Promise<number> {
  if (deps.rotationDays === 0) return 0;
  const now = deps.clock();
  const made = { before: now - deps.rotationDays * DAY_MS, after: now + DAY_MS };
  const due = await findKeysToRotate(deps.database.query, made, limit);
  const failures: unknown[] = [];
  for (const { orgId, alg, kid } of due) {
    const by = { actor: "system", compromised: false, replaces: kid };
    // One that cannot be replaced is the first of every round: the others must not wait for it.
    await rotateKey(deps, orgId, alg as SigningAlg, by).catch((error: unknown) => {
      if (!(error instanceof RotatedMeanwhile)) failures.push(error);
    });
  }
  if (failures.length > 0) throw failures[0];
  return due.length;
}

async function makeKey(
  deps: SigningKeyDeps,
  want: { orgId: string; alg: SigningAlg; now: number; activeFrom: number },
): Promise<SigningKeyRow> {
  const privateKey = await (deps.newPrivateKey ?? generatePrivateKey)(want.alg);
  const kid = jwkThumbprint(publicJwk(privateKey, "", want.alg));
  const pkcs8 = privateKey.export({ format: "der", type: "pkcs8" });
  return {
    org_id: want.orgId,
    kid,
    alg: want.alg,
    public_jwk: JSON.stringify(publicJwk(privateKey, kid, want.alg)),
    private_key: deps.encryption.seal(pkcs8, rowName(want.orgId, kid)),
    created_at: want.now,
    active_from: want.activeFrom,
    retire_at: null,
  };
}

function openKey(deps: SigningKeyDeps, row: SigningKeyRow): SigningKey {
  const der = deps.encryption.open(row.private_key, rowName(row.org_id, row.kid));
  const privateKey = createPrivateKey({ key: der, format: "der", type: "pkcs8" });
  const jwk = JSON.parse(row.public_jwk) as PublicJwk;
  return {
    orgId: row.org_id,
    kid: row.kid,
    alg: row.alg as SigningAlg,
    publicJwk: jwk,
    publicKey: createPublicKey(privateKey),
    privateKey,
    createdAt: row.created_at,
    activeFrom: row.active_from,
    retireAt: row.retire_at,
  };
}

/** Tries the master key on every stored private key and changes nothing. */
export const tryStoredKeys = ({
  database,
  encryption,
}: Pick<SigningKeyDeps, "database" | "encryption">): Promise<TriedKeys> =>
  tryKeys<SealedKey>(
    (page) => listSealedKeys(database.query, page),
    (key) => encryption.open(key.private_key, rowName(key.org_id, key.kid)),
  );

const rowName = (orgId: string, kid: string) => `signing-key|${orgId}|${kid}`;

const generate = promisify(generateKeyPair) as unknown as (
  type: string,
  options: object,
) => Promise<{ privateKey: KeyObject }>;

export async function generatePrivateKey(alg: SigningAlg): Promise<KeyObject> {
  const made = {
    ES256: () => generate("ec", { namedCurve: "P-256" }),
    RS256: () => generate("rsa", { modulusLength: 2048 }),
    PS256: () => generate("rsa", { modulusLength: 2048 }),
    EdDSA: () => generate("ed25519", {}),
  } satisfies Record<SigningAlg, () => Promise<{ privateKey: KeyObject }>>;
  return (await made[alg]()).privateKey;
}
