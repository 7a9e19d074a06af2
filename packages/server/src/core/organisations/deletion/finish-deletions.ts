/** Deletes organisations whose time of grace has ended: first the audit log is kept in a file, then everything goes. */
import { deleteRowsOfOrganisation } from "../../../db/rows-of-organisation.ts";
import type { CoreDeps } from "../../core-deps.ts";
import { endVisit } from "../../users/leaving/delete-user.ts";
import { deleteOrganisationRow, findDue, findVisits, setAuditExported } from "./deletion.store.ts";

const BATCH = 500;
/** Of one round, so that the other works of housekeeping are not kept waiting. */
const ROUND_MS = 60_000;

export interface FinishDeps extends CoreDeps {
  /** Keeps the audit log of an organisation outside the database. @throws when it can't: then nothing is deleted */
  keepLog(orgId: string): Promise<void>;
}

/** For housekeeping: a part at a time. @throws the failure of one organisation after the others */
export async function finishDeletions(deps: FinishDeps): Promise<void> {
  const { database, clock } = deps;
  const until = clock() + ROUND_MS;
  const exported = await findDue(database.query, clock(), true);
  if (exported !== undefined) return void (await removeOrganisation(deps, exported, until));
  const due = await findDue(database.query, clock(), false);
  if (due === undefined) return;
  await deps.keepLog(due);
  await setAuditExported(database.query, due, clock());
  await removeOrganisation(deps, due, until);
}

/**
 * Its audit log has been kept, and it is to be deleted. What was deleted stays so if this is interrupted.
 * @param until milliseconds: where it stops, to go on when it is called again
 * @returns whether nothing of it is left
 */
export async function removeOrganisation(
  { database, clock }: CoreDeps,
  orgId: string,
  until = Number.POSITIVE_INFINITY,
): Promise<boolean> {
  while (clock() < until) {
    // One account at a time: each transaction locks it.
    const [visit] = await findVisits(database.query, orgId, 1);
    if (visit) {
      await database.transaction((tx) => endVisit(tx, { ...visit, homeOrgId: orgId }, clock()));
      continue;
    }
    if ((await database.transaction((tx) => deleteRowsOfOrganisation(tx, orgId, BATCH))) > 0) continue;
    await deleteOrganisationRow(database.query, orgId);
    return true;
  }
  return false;
}
