/** Creates, changes, disables and deletes signing pools (sovereign-signing.md §2). */
import { newUuid } from "@signet/protocol/uuid";
import { type AuditEvent, recordAuditEvent } from "../../../core/audit/audit.store.ts";
import type { Clock } from "../../../core/clock.ts";
import { lockOrganisation } from "../../../core/organisations/organisations.store.ts";
import {
  countPools,
  deletePoolRow,
  insertPool,
  listPoolApplications,
  lockPoolForUpdate,
  replacePool,
  setPoolDisabled,
} from "../../../core/signing-pools/signing-pool.store.ts";
import type { IssuerMode, SigningPool } from "../../../core/signing-pools/signing-pool.ts";
import type { ChangeFeed } from "../../../db/change-feed.ts";
import type { Database, Db } from "../../../db/open.ts";
import { CodedError } from "../../../http/coded-error.ts";
import { checkPoolSettings, MAX_POOLS, type NewPool, type PoolSettings } from "./pool-settings.ts";

export interface SovereignAdminDeps {
  readonly database: Database;
  readonly changes: ChangeFeed;
  readonly clock: Clock;
  readonly baseUrl: string;
}

/** The administrator, for the audit log. */
export interface Acting {
  readonly orgId: string;
  readonly actor: string;
  readonly address?: string;
}

/** @throws CodedError 400 or 422 that names the member, 409 at the limit */
export async function createPool(deps: SovereignAdminDeps, by: Acting, input: NewPool): Promise<SigningPool> {
  const now = deps.clock();
  const { issuerMode = "pool" } = input;
  const pool: SigningPool = {
    orgId: by.orgId,
    id: newUuid(),
    issuerMode: issuerMode as IssuerMode,
    ...(await checkPoolSettings(input, now)),
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
    const details = { name: pool.name, algs: pool.algs, issuerMode: pool.issuerMode };
    await recordChange(tx, deps, by, { action: "signing-pool.created", target: pool.id, details });
  });
  return pool;
}

/**
 * @param before the version the settings were edited from
 * @param settings from `checkPoolSettings`
 * @returns undefined when the pool was deleted or changed meanwhile
 */
export async function changePool(
  deps: SovereignAdminDeps,
  by: Acting,
  before: SigningPool,
  settings: PoolSettings,
): Promise<SigningPool | undefined> {
  const now = deps.clock();
  const after = { ...before, ...settings, updatedAt: now, version: before.version + 1 };
  return deps.database.transaction(async (tx) => {
    if (!(await replacePool(tx, after))) return undefined;
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
  by: Acting,
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
  by: Acting,
  id: string,
): Promise<"deleted" | "in-use" | undefined> {
  const { orgId } = by;
  return deps.database.transaction(async (tx) => {
    const pool = await lockPoolForUpdate(tx, orgId, id);
    if (!pool) return undefined;
    if ((await listPoolApplications(tx, { orgId, poolId: id, limit: 1 })).length > 0) return "in-use";
    await deletePoolRow(tx, orgId, id);
    await recordChange(tx, deps, by, {
      action: "signing-pool.deleted",
      target: id,
      details: { name: pool.name },
    });
    return "deleted";
  });
}

/** Writes the audit event, and notifies every node of the change. */
export async function recordChange(
  tx: Db,
  { clock, changes }: SovereignAdminDeps,
  by: Acting,
  event: Pick<AuditEvent, "action" | "target" | "details">,
): Promise<void> {
  await recordAuditEvent(tx, { ...by, at: clock(), ...event });
  await changes.publish(tx, { orgId: by.orgId, topic: "signing-pool" });
}
