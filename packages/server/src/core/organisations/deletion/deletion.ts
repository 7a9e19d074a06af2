/**
 * The end of an organisation: asked for, it is gone from outside at once, and can be brought back for thirty days. Then its audit
 * log is written to a file, and everything of it is deleted in batches, which can stop at any point and go on.
 */
import { type Act, auditFields } from "../../audit/audit.store.ts";
import { type RecordDeps, recordChange } from "../../record-changes.ts";
import { setDeletion, setDeletionBegun, unsetDeletion } from "./deletion.store.ts";

export const GRACE_MS = 30 * 86_400_000;

type Asked = Act;

/**
 * @param asked.atOnce without the time of grace (`beginDeletion`): it may already be scheduled then
 * @returns when it is deleted, milliseconds; undefined when there is no such organisation, or it is already to be deleted
 */
export async function scheduleDeletion(
  deps: RecordDeps,
  { atOnce = false, ...act }: Asked & { readonly atOnce?: boolean },
): Promise<number | undefined> {
  const now = deps.clock();
  const { orgId } = act;
  return deps.database.transaction(async (tx) => {
    const later = await setDeletion(tx, { orgId, now, graceMs: GRACE_MS });
    if (later === undefined && !atOnce) return undefined;
    const deleteAfter = later ?? now + GRACE_MS;
    const details = { deleteAfter: new Date(atOnce ? now : deleteAfter).toISOString() };
    const event = { action: "organisation.deletion-scheduled" as const, target: orgId, details };
    await recordChange(tx, deps, "organisation", { ...auditFields(act, now), ...event });
    return deleteAfter;
  });
}

/** @returns false when it is not to be deleted, or its deletion has begun */
export async function undoDeletion(deps: RecordDeps, act: Asked): Promise<boolean> {
  const now = deps.clock();
  const { orgId } = act;
  return deps.database.transaction(async (tx) => {
    if (!(await unsetDeletion(tx, { orgId, now, graceMs: GRACE_MS }))) return false;
    const event = { action: "organisation.deletion-undone" as const, target: orgId };
    await recordChange(tx, deps, "organisation", { ...auditFields(act, now), ...event });
    return true;
  });
}

/**
 * Without the time of grace: once its audit log is written, nothing brings it back.
 * @param writeLog what it throws leaves the organisation as one that is to be deleted later
 * @returns false when that was undone while the log was written, or another deletion has begun
 */
export async function beginDeletion(
  deps: RecordDeps,
  asked: Asked,
  writeLog: () => Promise<void>,
): Promise<boolean> {
  await scheduleDeletion(deps, { ...asked, atOnce: true });
  await writeLog();
  return setDeletionBegun(deps.database.query, { orgId: asked.orgId, now: deps.clock(), isEarly: true });
}
