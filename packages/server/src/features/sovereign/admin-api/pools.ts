/** Creates, changes, disables and deletes signing pools, and validates their settings (sovereign-signing.md §2). */

import { type AgentAlg, agentAlgs, isAgentAlg } from "@signet/protocol/agent-signature";
import { MAX_APPROVALS } from "@signet/protocol/approvals/approval";
import { rootFault } from "@signet/protocol/certificates/x5c-chain";
import { certificateInPem, pemOfCertificate } from "@signet/protocol/der/pem";
import { isThreshold, MAX_SIGNERS, MIN_SIGNERS, type Threshold } from "@signet/protocol/threshold/group";
import { newUuid } from "@signet/protocol/uuid";
import { areAlgsAllowed } from "../../../core/applications/security-profile.ts";
import { type Act, type AuditEvent, recordAuditEvent } from "../../../core/audit/audit.store.ts";
import type { CoreDeps } from "../../../core/core-deps.ts";
import { isRecordName } from "../../../core/organisations/organisation.ts";
import { lockOrganisation } from "../../../core/organisations/organisations.store.ts";
import {
  countPools,
  deletePoolRow,
  insertPool,
  listPoolApplications,
  lockPoolForUpdate,
  replacePool,
  servesProfile,
  setPoolDisabled,
} from "../../../core/signing-pools/signing-pool.store.ts";
import { type IssuerMode, issuerModes, type SigningPool } from "../../../core/signing-pools/signing-pool.ts";
import type { ChangeFeed } from "../../../db/change-feed.ts";
import type { Db } from "../../../db/open.ts";
import { CodedError } from "../../../http/coded-error.ts";

export interface SovereignAdminDeps extends CoreDeps {
  readonly changes: ChangeFeed;
  readonly baseUrl: string;
}

/** @throws CodedError 400 or 422 that names the member, 409 at the limit */
export async function createPool(deps: SovereignAdminDeps, by: Act, input: NewPool): Promise<SigningPool> {
  const now = deps.clock();
  const { issuerMode = "pool", threshold } = input;
  if (threshold) requireThreshold(threshold, input);
  const pool: SigningPool = {
    orgId: by.orgId,
    id: newUuid(),
    issuerMode: issuerMode as IssuerMode,
    ...(await checkPoolSettings(input, now)),
    threshold: threshold ? { min: threshold.min, max: threshold.max } : null,
    createdAt: now,
    createdBy: by.actor,
    updatedAt: now,
    disabledAt: null,
    version: 1,
  };
  await deps.database.transaction(async (tx) => {
    // Serialises simultaneous calls, so that both are counted.
    await lockOrganisation(tx, by.orgId);
    if ((await countPools(tx, by.orgId)) >= MAX_POOLS)
      throw new CodedError(409, "pool_limit", `an organisation has at most ${MAX_POOLS} pools`);
    await insertPool(tx, pool);
    const details = {
      name: pool.name,
      algs: pool.algs,
      issuerMode: pool.issuerMode,
      ...thresholdDetail(pool),
      ...(pool.approvals > 1 ? { approvals: pool.approvals } : {}),
    };
    await recordChange(tx, deps, by, { action: "signing-pool.created", target: pool.id, details });
  });
  return pool;
}

const thresholdDetail = ({ threshold }: SigningPool) =>
  threshold === null ? {} : { threshold: `${threshold.min} of ${threshold.max}` };

/**
 * @param before the version the settings were edited from
 * @param settings from `checkPoolSettings`
 * @returns undefined when the pool was deleted or changed meanwhile
 * @throws CodedError 400 or 422 for what a threshold pool cannot have, and for algorithms that an application's profile has not
 */
export async function changePool(
  deps: SovereignAdminDeps,
  by: Act,
  before: SigningPool,
  settings: PoolSettings,
): Promise<SigningPool | undefined> {
  if (before.threshold) requireGroupKey(settings);
  const now = deps.clock();
  const after = { ...before, ...settings, updatedAt: now, version: before.version + 1 };
  return deps.database.transaction(async (tx) => {
    if (!(await replacePool(tx, after))) return undefined;
    // After the pool is locked: an application that takes it meanwhile waits.
    if (
      !areAlgsAllowed({ securityProfile: "fapi2" }, after.algs) &&
      (await servesProfile(tx, by.orgId, after.id))
    )
      throw new CodedError(
        422,
        "unsupported_alg",
        "algs must be some of ES256, PS256, EdDSA: an application of the pool has a FAPI 2.0 profile",
      );
    const details = { changed: changedMembers(before, after) };
    await recordChange(tx, deps, by, { action: "signing-pool.changed", target: after.id, details });
    return after;
  });
}

const bookkeeping: ReadonlySet<string> = new Set(["updatedAt", "version"]);

const changedMembers = (before: SigningPool, after: SigningPool): string[] =>
  Object.entries(after).flatMap(([name, value]) => {
    const isSame = JSON.stringify(value) === JSON.stringify(before[name as keyof SigningPool]);
    return isSame || bookkeeping.has(name) ? [] : name;
  });

/**
 * A disabled pool signs nothing, and nothing else signs for its applications. Its keys stay published for issued tokens.
 * @returns false when there is no such pool, or nothing changed
 */
export async function disablePool(
  deps: SovereignAdminDeps,
  by: Act,
  { id, disabled }: { id: string; disabled: boolean },
): Promise<boolean> {
  const now = deps.clock();
  return deps.database.transaction(async (tx) => {
    if (!(await setPoolDisabled(tx, { orgId: by.orgId, id }, disabled ? now : null, now))) return false;
    const action = disabled ? "signing-pool.disabled" : "signing-pool.enabled";
    await recordChange(tx, deps, by, { action, target: id });
    return true;
  });
}

/**
 * Deletes the pool with its agents and keys: the keys leave the JWKS, and their tokens are no longer valid.
 * @returns `in-use` while an application is assigned to the pool
 */
export async function deletePool(
  deps: SovereignAdminDeps,
  by: Act,
  id: string,
): Promise<"deleted" | "in-use" | undefined> {
  const { orgId } = by;
  return deps.database.transaction(async (tx) => {
    const pool = await lockPoolForUpdate(tx, orgId, id);
    if (!pool) return undefined;
    if ((await listPoolApplications(tx, { orgId, poolId: id, limit: 1 })).length > 0) return "in-use";
    await deletePoolRow(tx, orgId, id);
    const details = { name: pool.name };
    await recordChange(tx, deps, by, { action: "signing-pool.deleted", target: id, details });
    return "deleted";
  });
}

/** Writes the audit event, and notifies every node of the change. */
export async function recordChange(
  tx: Db,
  { clock, changes }: SovereignAdminDeps,
  by: Act,
  event: Pick<AuditEvent, "action" | "target" | "details">,
): Promise<void> {
  await recordAuditEvent(tx, { ...by, at: clock(), ...event });
  await changes.publish(tx, { orgId: by.orgId, topic: "signing-pool" });
}

export interface NewPool {
  readonly name: string;
  readonly algs: readonly string[];
  readonly maxTokenLifetimeSeconds: number;
  readonly issuerMode?: string;
  readonly tokenWaitSeconds?: number;
  readonly keyPublishDelaySeconds?: number;
  readonly maxPending?: number;
  readonly trustedRoots?: readonly string[];
  readonly requireX5c?: boolean;
  /** For a pool whose key exists nowhere; cannot be changed (threshold-and-ledger.md §1). */
  readonly threshold?: Threshold;
  /** Agents that approve each signature by a whole key, the one that signs among them. */
  readonly approvals?: number;
}

export const poolDefaults = {
  tokenWaitSeconds: 8,
  keyPublishDelaySeconds: 600,
  maxPending: 500,
  approvals: 1,
} as const;

/** An organisation's pools are cached together. */
export const MAX_POOLS = 50;
export const MAX_ROOTS = 10;
const DAY_SECONDS = 86_400;

/** Minimum and maximum. The wait for a token must end before its HTTP request times out (server-bounds.ts). */
export const poolLimits = {
  maxTokenLifetimeSeconds: [60, DAY_SECONDS],
  tokenWaitSeconds: [1, 20],
  keyPublishDelaySeconds: [0, 7 * DAY_SECONDS],
  maxPending: [1, 10_000],
  approvals: [1, MAX_APPROVALS],
} as const satisfies Partial<Record<keyof NewPool, readonly [number, number]>>;

/** What can be changed; issuer mode and threshold can't. */
type PoolSettings = Omit<
  SigningPool,
  | "orgId"
  | "id"
  | "issuerMode"
  | "threshold"
  | "createdAt"
  | "createdBy"
  | "updatedAt"
  | "disabledAt"
  | "version"
>;

/** Fills in the defaults. @throws CodedError 400 or 422 that names the member */
export async function checkPoolSettings(input: NewPool, now: number): Promise<PoolSettings> {
  const { trustedRoots = [], requireX5c = false, maxTokenLifetimeSeconds } = input;
  requireValid(input);
  await requireTrustedRoots(trustedRoots, now);
  return {
    name: input.name.trim(),
    algs: input.algs as readonly AgentAlg[],
    maxTokenLifetimeSeconds,
    tokenWaitSeconds: input.tokenWaitSeconds ?? poolDefaults.tokenWaitSeconds,
    keyPublishDelaySeconds: input.keyPublishDelaySeconds ?? poolDefaults.keyPublishDelaySeconds,
    maxPending: input.maxPending ?? poolDefaults.maxPending,
    approvals: input.approvals ?? poolDefaults.approvals,
    // Only the certificate is stored: the rest of the file is unchecked.
    trustedRoots: trustedRoots.map((pem) => pemOfCertificate(certificateInPem(pem))),
    requireX5c,
  };
}

/** @throws CodedError 400 */
export function requireName(name: string): string {
  const trimmed = name.trim();
  if (!isRecordName(trimmed)) throw invalid("name must be 1 to 100 plain characters");
  return trimmed;
}

function requireThreshold(threshold: Threshold, input: GroupKeySettings): void {
  if (!isThreshold(threshold))
    throw invalid(`threshold must have whole numbers, ${MIN_SIGNERS} <= min <= max <= ${MAX_SIGNERS}`);
  requireGroupKey(input);
}

type GroupKeySettings = Pick<NewPool, "algs" | "requireX5c" | "approvals">;

/** FROST makes Ed25519 signatures, with a key that no certificate is for. */
function requireGroupKey({ algs, requireX5c = false, approvals = 1 }: GroupKeySettings): void {
  if (algs.length !== 1 || algs[0] !== "EdDSA")
    throw new CodedError(422, "unsupported_alg", "algs must be [EdDSA] with threshold");
  if (requireX5c) throw invalid("requireX5c cannot be true with threshold");
  if (approvals !== 1) throw invalid("approvals must be 1 with threshold: every share is an approval");
}

const invalid = (description: string) => new CodedError(400, "invalid_request", description);

function requireValid(input: NewPool): void {
  requireName(input.name);
  const { algs, issuerMode, trustedRoots = [], requireX5c = false } = input;
  if (algs.length === 0 || new Set(algs).size < algs.length)
    throw invalid("algs must list at least one algorithm, each once");
  const unknown = algs.find((alg) => !isAgentAlg(alg));
  if (unknown !== undefined)
    throw new CodedError(422, "unsupported_alg", `algs must be some of ${agentAlgs.join(", ")}`);
  for (const [name, [min, max]] of Object.entries(poolLimits))
    requireRange(name, input[name as keyof typeof poolLimits] ?? min, min, max);
  if (issuerMode !== undefined && !issuerModes.some((mode) => mode === issuerMode))
    throw invalid(`issuerMode must be one of ${issuerModes.join(", ")}`);
  if (requireX5c && trustedRoots.length === 0) throw invalid("requireX5c requires trustedRoots");
}

/** @throws CodedError 400 */
async function requireTrustedRoots(trustedRoots: readonly string[], now: number): Promise<void> {
  if (trustedRoots.length > MAX_ROOTS) throw invalid(`trustedRoots has at most ${MAX_ROOTS} certificates`);
  for (const [index, pem] of trustedRoots.entries()) {
    const compromised = "contains a private key: it is compromised, replace the certificate authority's key";
    if (/PRIVATE KEY/i.test(pem))
      throw new CodedError(400, "private_key_material", `trustedRoots[${index}] ${compromised}`);
    const fault = await rootFault(pem, now);
    if (fault) throw invalid(`trustedRoots[${index}] ${fault}`);
  }
}

function requireRange(name: string, value: number, min: number, max: number): void {
  if (!Number.isInteger(value) || value < min || value > max)
    throw invalid(`${name} must be a whole number from ${min} to ${max}`);
}
