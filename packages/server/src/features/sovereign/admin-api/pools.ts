/** Making and disabling signing pools (sovereign-signing.md §2). */
import { type AgentAlg, isAgentAlg } from "@signet/protocol/agent-signature";
import { rootFault } from "@signet/protocol/certificates/x5c-chain";
import { certificateInPem, pemOfCertificate } from "@signet/protocol/der/pem";
import { newUuid } from "@signet/protocol/uuid";
import { recordAuditEvent } from "../../../core/audit/audit.store.ts";
import type { Clock } from "../../../core/clock.ts";
import { holdOrganisation } from "../../../core/organisations/organisations.store.ts";
import { countPools, insertPool, setPoolDisabled } from "../../../core/signing-pools/registration.store.ts";
import { type IssuerMode, issuerModes, type SigningPool } from "../../../core/signing-pools/signing-pool.ts";
import type { ChangeFeed } from "../../../db/change-feed.ts";
import type { Database } from "../../../db/open.ts";
import { CodedError } from "../../../http/coded-error.ts";

export interface SovereignAdminDeps {
  readonly database: Database;
  readonly changes: ChangeFeed;
  readonly clock: Clock;
  readonly baseUrl: string;
}

/** Who acts, and from where, as the audit log has it. */
export interface Acting {
  readonly orgId: string;
  readonly actor: string;
  readonly address?: string;
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
}

/** What a pool that nobody said more of has (sovereign-signing.md §2). */
export const poolDefaults = {
  tokenWaitSeconds: 8,
  keyPublishDelaySeconds: 600,
  maxPending: 500,
} as const;

/** All of an organisation's pools are kept in memory together. */
export const MOST_POOLS = 50;
export const MOST_ROOTS = 10;
const DAY_SECONDS = 86_400;

/** The least and the most of each whole number. A token's wait ends before its request does (server-bounds.ts). */
export const poolLimits = {
  maxTokenLifetimeSeconds: [60, DAY_SECONDS],
  tokenWaitSeconds: [1, 20],
  keyPublishDelaySeconds: [0, 7 * DAY_SECONDS],
  maxPending: [1, 10_000],
} as const satisfies Partial<Record<keyof NewPool, readonly [number, number]>>;

/** @throws CodedError 400 naming the member, 409 when there are enough */
export async function createPool(deps: SovereignAdminDeps, by: Acting, input: NewPool): Promise<SigningPool> {
  const now = deps.clock();
  const { issuerMode = "pool" } = input;
  const pool: SigningPool = {
    orgId: by.orgId,
    id: newUuid(),
    issuerMode: issuerMode as IssuerMode,
    ...(await checkedSettings(input, now)),
    createdAt: now,
    createdBy: by.actor,
    updatedAt: now,
    disabledAt: null,
    version: 1,
  };
  await deps.database.transaction(async (tx) => {
    // Two at once are counted one after the other.
    await holdOrganisation(tx, by.orgId);
    if ((await countPools(tx, by.orgId)) >= MOST_POOLS)
      throw new CodedError(409, "pool_limit", `an organisation has at most ${MOST_POOLS} pools`);
    await insertPool(tx, pool);
    const details = { name: pool.name, algs: pool.algs, issuerMode: pool.issuerMode };
    await recordAuditEvent(tx, { ...by, at: now, action: "signing-pool.created", target: pool.id, details });
    await deps.changes.publish(tx, { orgId: by.orgId, topic: "signing-pool" });
  });
  return pool;
}

/** What of a pool may be changed: whose name its tokens bear is for good. */
export type PoolSettings = Omit<
  SigningPool,
  "orgId" | "id" | "issuerMode" | "createdAt" | "createdBy" | "updatedAt" | "disabledAt" | "version"
>;

/** With what nobody said. @throws CodedError 400 or 422 naming the member */
export async function checkedSettings(input: NewPool, now: number): Promise<PoolSettings> {
  const { trustedRoots = [], requireX5c = false, maxTokenLifetimeSeconds } = input;
  requireValid(input);
  await requireGoodRoots(trustedRoots, now);
  return {
    name: input.name.trim(),
    algs: input.algs as readonly AgentAlg[],
    maxTokenLifetimeSeconds,
    tokenWaitSeconds: input.tokenWaitSeconds ?? poolDefaults.tokenWaitSeconds,
    keyPublishDelaySeconds: input.keyPublishDelaySeconds ?? poolDefaults.keyPublishDelaySeconds,
    maxPending: input.maxPending ?? poolDefaults.maxPending,
    // The certificates alone: what stands around them in their files is nothing that was checked.
    trustedRoots: trustedRoots.map((pem) => pemOfCertificate(certificateInPem(pem))),
    requireX5c,
  };
}

/**
 * A disabled pool signs nothing: its applications get no tokens, from nobody. Its keys stay published for what was
 * issued. @returns false when there is none, or it was so before
 */
export async function disablePool(
  deps: SovereignAdminDeps,
  by: Acting,
  { id, disabled }: { id: string; disabled: boolean },
): Promise<boolean> {
  const now = deps.clock();
  return deps.database.transaction(async (tx) => {
    if (!(await setPoolDisabled(tx, { orgId: by.orgId, id }, disabled ? now : null, now))) return false;
    const action = disabled ? "signing-pool.disabled" : "signing-pool.enabled";
    await recordAuditEvent(tx, { ...by, at: now, action, target: id });
    await deps.changes.publish(tx, { orgId: by.orgId, topic: "signing-pool" });
    return true;
  });
}

/** @throws CodedError 400 */
export function requireName(name: string): string {
  const trimmed = name.trim();
  // Control and bidirectional characters could make one name look like another.
  if (trimmed === "" || [...trimmed].length > 100 || /[\p{Cc}\p{Cf}\u2028\u2029]/u.test(trimmed))
    throw wrong("name must be 1 to 100 plain characters");
  return trimmed;
}

const wrong = (description: string) => new CodedError(400, "invalid_request", description);

function requireValid(input: NewPool): void {
  requireName(input.name);
  const { algs, issuerMode, trustedRoots = [], requireX5c = false } = input;
  if (algs.length === 0 || new Set(algs).size < algs.length)
    throw wrong("algs must name each algorithm once, and at least one");
  const unknown = algs.find((alg) => !isAgentAlg(alg));
  if (unknown !== undefined)
    throw new CodedError(422, "unsupported_alg", "algs must be some of ES256, ES384, PS256, RS256, EdDSA");
  for (const [name, [least, most]] of Object.entries(poolLimits))
    requireRange(name, input[name as keyof typeof poolLimits] ?? least, least, most);
  if (issuerMode !== undefined && !issuerModes.some((mode) => mode === issuerMode))
    throw wrong(`issuerMode must be one of ${issuerModes.join(", ")}`);
  if (requireX5c && trustedRoots.length === 0)
    throw wrong("requireX5c needs trustedRoots to check certificates against");
}

/** @throws CodedError 400 */
async function requireGoodRoots(trustedRoots: readonly string[], now: number): Promise<void> {
  if (trustedRoots.length > MOST_ROOTS) throw wrong(`trustedRoots has at most ${MOST_ROOTS} certificates`);
  for (const [index, pem] of trustedRoots.entries()) {
    if (/PRIVATE KEY/i.test(pem)) throw withPrivateKey(`trustedRoots[${index}]`);
    const fault = await rootFault(pem, now);
    if (fault) throw wrong(`trustedRoots[${index}] ${fault}`);
  }
}

const withPrivateKey = (at: string) =>
  new CodedError(
    400,
    "private_key_material",
    `${at} holds a private key beside the certificate: it must never leave its authority, replace it`,
  );

function requireRange(name: string, value: number, least: number, most: number): void {
  if (!Number.isInteger(value) || value < least || value > most)
    throw wrong(`${name} must be a whole number from ${least} to ${most}`);
}
