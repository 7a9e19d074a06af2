/** What the agents of a pool did and could not do, for the organisation and for the pool. */
import { type CountActivity, ofPool } from "../../../core/activity/kinds.ts";

/** A user's no is no failure: do not count it. */
export function countSignature(
  count: CountActivity,
  { orgId, poolId }: { readonly orgId: string; readonly poolId: string },
  outcome: "signed" | "failed",
): void {
  const kind = outcome === "signed" ? "pool-signatures" : "failed-pool-signatures";
  count(orgId, kind);
  count(orgId, ofPool(kind, poolId));
}
