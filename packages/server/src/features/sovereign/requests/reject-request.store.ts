/** Ends a claim: the request fails, or waits for another agent. */
import type { Db } from "../../../db/open.ts";
import { isLeased } from "./claim-request.store.ts";
import type { Lease } from "./lease.ts";
import { failing, isChanged, resetToPending } from "./signing-request.store.ts";
import type { FailReason } from "./signing-request.ts";

export const failLeased = (db: Db, lease: Lease, reason: FailReason): Promise<boolean> =>
  isChanged(db.updateTable("signing_request").set(failing(reason, lease.now)).where(isLeased(lease)));

/** @param refusals.refusedBy the row's `refused_by` as it was read, with this agent added */
export async function returnToQueue(
  db: Db,
  lease: Lease,
  refusals: { readonly was: string; readonly refusedBy: string },
): Promise<boolean> {
  return isChanged(
    db
      .updateTable("signing_request")
      .set({ ...resetToPending, refused_by: refusals.refusedBy })
      .where(isLeased(lease))
      .where("refused_by", "=", refusals.was),
  );
}
