/** Loads the second factors of a user in a browser, and whether one is missing. */
import type { Db } from "../../db/open.ts";
import type { Organisation } from "../organisations/organisation.ts";
import { assurance, assuranceOf } from "../sessions/assurance.ts";
import type { SignedIn } from "../sessions/session.ts";
import type { User } from "../users/user.ts";
import { defaultAssurance, type FactorOwner, type FactorStanding, hasSecondFactor } from "./second-factor.ts";
import { findFactorSummary } from "./second-factors.store.ts";
import { findTrustedBrowser } from "./trusted-browsers/trusted-browsers.store.ts";

export const ownerOf = ({ homeOrgId, id }: Pick<User, "homeOrgId" | "id">): FactorOwner => ({
  homeOrgId,
  userId: id,
});

/** @param deviceToken the cookie of a trusted browser; undefined where trust is not accepted */
export async function factorStanding(
  db: Db,
  organisation: Organisation,
  user: User,
  { deviceToken, now }: { deviceToken: string | undefined; now: number },
): Promise<FactorStanding> {
  const summary = await findFactorSummary(db, ownerOf(user));
  const trusted = hasSecondFactor(summary) ? await findTrustedBrowser(db, user, deviceToken, now) : undefined;
  return {
    ...summary,
    isRemembered: trusted !== undefined,
    isRequired: organisation.settings.secondFactor === "required",
    mayEnrol: user.homeOrgId === organisation.id,
  };
}

/** Whether the organisation requires a second factor that the session has not verified, e.g. because it is older. */
export async function lacksRequiredFactor(
  db: Db,
  organisation: Organisation,
  { session, user }: SignedIn,
  browser: Parameters<typeof factorStanding>[3],
): Promise<boolean> {
  const reached = assuranceOf(session.acr);
  if (organisation.settings.secondFactor !== "required" || reached >= assurance.multiFactor) return false;
  return defaultAssurance(await factorStanding(db, organisation, user, browser)) > reached;
}
