/** Clients that have registered themselves and that nobody uses are deleted. */
import type { Db } from "../../db/open.ts";
import { type RecordDeps, recordChange } from "../record-changes.ts";
import { countRegistrations, deleteUnusedRegistrations } from "./client-registrations.store.ts";

/** Of an organisation. */
export const MAX_REGISTRATIONS = 10_000;

/** Without a request for so long, code, consent or tokens. */
export const UNUSED_MS = 30 * 86_400_000;
/** Where others need their room. */
const HURRIED_MS = 86_400_000;
const BATCH = 200;

type Wanted = Parameters<typeof deleteUnusedRegistrations>[1];

async function deleteUnused(tx: Db, deps: RecordDeps, wanted: Wanted): Promise<number> {
  const deleted = await deleteUnusedRegistrations(tx, wanted);
  for (const { orgId, id, name } of deleted)
    await recordChange(tx, deps, "application", {
      ...{ orgId, at: deps.clock(), actor: "system", action: "application.deleted", target: id },
      details: { name, reason: "unused" },
    });
  return deleted.length;
}

/** For housekeeping: all organisations, batch by batch. @returns how many */
export async function deleteUnusedClients(deps: RecordDeps): Promise<number> {
  let all = 0;
  for (let batch = BATCH; batch >= BATCH; all += batch) {
    const wanted = { before: deps.clock() - UNUSED_MS, limit: BATCH };
    batch = await deps.database.transaction((tx) => deleteUnused(tx, deps, wanted));
  }
  return all;
}

/** The caller has locked the organisation. */
export const hasRoom = async (tx: Db, deps: RecordDeps, orgId: string): Promise<boolean> =>
  (await countRegistrations(tx, orgId)) < MAX_REGISTRATIONS ||
  (await deleteUnused(tx, deps, { orgId, before: deps.clock() - HURRIED_MS, limit: BATCH })) > 0;
