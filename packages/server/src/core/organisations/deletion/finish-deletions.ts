/** Deletes organisations whose time of grace has ended: first the audit log is kept in a file, then everything goes. */

import { deleteRowsOfOrganisation } from "../../../db/rows-of-organisation.ts";
import { endCopiesOfHome } from "../../applications/application-copies.ts";
import { hasUnsent, isStreamInUse } from "../../audit/stream/stream.store.ts";
import type { CoreDeps } from "../../core-deps.ts";
import { endVisit } from "../../users/leaving/delete-user.ts";
import {
  type DueDeletion,
  deleteOrganisationRow,
  findVisits,
  listDue,
  lockBegunDeletion,
  setDeletionBegun,
} from "./deletion.store.ts";
import type { KeptLog } from "./keep-log.ts";

const BATCH = 500;
/** Of one round, so that the other works of housekeeping are not kept waiting. */
const ROUND_MS = 60_000;
const MAX_DUE = 100;
/** How long a deletion that is due waits for the audit stream; the log is kept in a file as well. */
const STREAM_WAIT_MS = 7 * 86_400_000;

export interface FinishDeps extends CoreDeps {
  /** Writes the audit log of an organisation outside the database. @throws when it can't: then nothing is deleted */
  keepLog(orgId: string): Promise<KeptLog>;
  /** Whether this node has an audit stream; other nodes may have one. */
  readonly isStreamed?: boolean;
}

/** For housekeeping: a part at a time. @throws the failure of one organisation after the others */
export async function finishDeletions(deps: FinishDeps): Promise<void> {
  const { database, clock } = deps;
  const until = clock() + ROUND_MS;
  const failures: unknown[] = [];
  for (const due of await listDue(database.query, clock(), MAX_DUE)) {
    try {
      await finishDeletion(deps, due, until);
    } catch (error) {
      failures.push(error);
    }
    if (clock() >= until) break;
  }
  if (failures.length > 0) throw failures[0];
}

async function finishDeletion(deps: FinishDeps, due: DueDeletion, until: number): Promise<void> {
  const { orgId, isBegun } = due;
  if (!isBegun && (await waitsForStream(deps, due))) return;
  if (isBegun || (await begin(deps, orgId))) await removeOrganisation(deps, orgId, until);
}

/** What is deleted can't be sent any more. */
async function waitsForStream(
  { database: { query }, clock, isStreamed = false }: FinishDeps,
  { orgId, deleteAfter }: DueDeletion,
): Promise<boolean> {
  const now = clock();
  if (now >= deleteAfter + STREAM_WAIT_MS) return false;
  return (isStreamed || (await isStreamInUse(query, now))) && hasUnsent(query, orgId);
}

/** @returns false when it was undone while its log was written, or another node has begun it: with a log of its own */
async function begin({ database, clock, keepLog }: FinishDeps, orgId: string): Promise<boolean> {
  const log = await keepLog(orgId);
  try {
    return await database.transaction(async (tx) => {
      if (!(await setDeletionBegun(tx, { orgId, now: clock(), isEarly: false }))) return false;
      // Before the commit: nothing is deleted without it. Nobody else gets here, so that nothing replaces it afterwards.
      await log.keep();
      return true;
    });
  } finally {
    await log.drop();
  }
}

/**
 * Deletes what is left of an organisation whose deletion has begun, and nothing of any other. What was deleted stays so if this is
 * interrupted.
 * @param until milliseconds: where it stops, to go on when it is called again
 * @returns whether there is nothing left to delete
 */
export async function removeOrganisation(
  { database, clock }: CoreDeps,
  orgId: string,
  until = Number.POSITIVE_INFINITY,
): Promise<boolean> {
  // Once begun, it stays so.
  if (!(await lockBegunDeletion(database.query, orgId))) return true;
  while (clock() < until) {
    // One account at a time: each transaction locks it.
    const [visit] = await findVisits(database.query, orgId, 1);
    if (visit) {
      await database.transaction((tx) => endVisit(tx, { ...visit, homeOrgId: orgId }, clock()));
      continue;
    }
    if ((await database.transaction((tx) => endCopiesOfHome(tx, orgId, { now: clock(), limit: 1 }))) > 0)
      continue;
    const deleted = await database.transaction(async (tx) =>
      (await lockBegunDeletion(tx, orgId)) ? deleteRowsOfOrganisation(tx, orgId, BATCH) : undefined,
    );
    if (deleted === undefined) return true;
    if (deleted > 0) continue;
    await deleteOrganisationRow(database.query, orgId);
    return true;
  }
  return false;
}
