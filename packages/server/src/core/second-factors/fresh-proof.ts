/** What a session lacks for a sensitive change, which a stolen or trusted browser must not be able to make. */
import type { Db } from "../../db/open.ts";
import { assurance, toAssurance } from "../sessions/assurance.ts";
import { isFresh, type SignedIn } from "../sessions/session.ts";
import { factorOwner } from "./factor-status.ts";
import { hasSecondFactor } from "./second-factor.ts";
import { findFactorSummary } from "./second-factors.store.ts";

export type AuthenticationRequirement = "fresh-sign-in" | "second-factor";

/** A user with a second factor must have verified it: a trusted browser is not enough. @param now milliseconds */
export async function missingAuthenticationRequirement(
  db: Db,
  { session, user }: SignedIn,
  now: number,
): Promise<AuthenticationRequirement | undefined> {
  if (!isFresh(session, now)) return "fresh-sign-in";
  const summary = await findFactorSummary(db, factorOwner(user));
  return hasSecondFactor(summary) && toAssurance(session.acr) < assurance.multiFactor
    ? "second-factor"
    : undefined;
}
