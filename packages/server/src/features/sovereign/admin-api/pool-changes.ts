/** Changing and deleting signing pools. */
import { recordAuditEvent } from "../../../core/audit/audit.store.ts";
import {
  applicationsOfPool,
  deletePoolRow,
  holdPool,
  replacePool,
} from "../../../core/signing-pools/registration.store.ts";
import type { SigningPool } from "../../../core/signing-pools/signing-pool.ts";
import type { Acting, PoolSettings, SovereignAdminDeps } from "./pools.ts";

/**
 * @param before as it was when the settings were made for it
 * @param settings checked (`checkedSettings`)
 * @returns undefined when it is gone, or somebody else has changed it since
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
    await recordAuditEvent(tx, { ...by, at: now, action: "signing-pool.changed", target: after.id, details });
    await deps.changes.publish(tx, { orgId: by.orgId, topic: "signing-pool" });
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
 * With its agents and keys: they leave the JWKS now, and all that they signed is void.
 * @returns `in-use` as long as an application names it: its tokens have nobody else to sign them
 */
export async function deletePool(
  deps: SovereignAdminDeps,
  by: Acting,
  id: string,
): Promise<"deleted" | "in-use" | undefined> {
  const { orgId } = by;
  return deps.database.transaction(async (tx) => {
    const pool = await holdPool(tx, orgId, id);
    if (!pool) return undefined;
    if ((await applicationsOfPool(tx, { orgId, poolId: id, limit: 1 })).length > 0) return "in-use";
    await deletePoolRow(tx, orgId, id);
    const event = { ...by, at: deps.clock(), target: id, details: { name: pool.name } };
    await recordAuditEvent(tx, { ...event, action: "signing-pool.deleted" });
    await deps.changes.publish(tx, { orgId, topic: "signing-pool" });
    return "deleted";
  });
}
