/** What is asked of somebody before a change that a stolen or remembered browser must not be able to make. */
import type { Db } from "../../db/open.ts";
import { assurance, assuranceOf } from "../sessions/assurance.ts";
import { isFresh, type SignedIn } from "../sessions/session.ts";
import { ownerOf } from "./factor-status.ts";
import { hasSecondFactor } from "./second-factor.ts";
import { findFactorSummary } from "./second-factors.store.ts";

export type LackingProof = "fresh-sign-in" | "second-factor";

/**
 * @param now milliseconds
 * @returns what the session lacks; of a user with a second factor a remembered browser is not enough
 */
export async function lackingProof(
  db: Db,
  { session, user }: SignedIn,
  now: number,
): Promise<LackingProof | undefined> {
  if (!isFresh(session, now)) return "fresh-sign-in";
  const summary = await findFactorSummary(db, ownerOf(user));
  return hasSecondFactor(summary) && assuranceOf(session.acr) < assurance.multiFactor
    ? "second-factor"
    : undefined;
}
