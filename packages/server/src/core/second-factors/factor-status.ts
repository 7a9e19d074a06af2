/** What decides whether a second factor is asked, gathered for one user in one browser. */
import type { Db } from "../../db/open.ts";
import type { Organisation } from "../organisations/organisation.ts";
import { assurance, assuranceOf } from "../sessions/assurance.ts";
import type { SignedIn } from "../sessions/session.ts";
import type { User } from "../users/user.ts";
import { type FactorOwner, type FactorStanding, hasSecondFactor, usualAssurance } from "./second-factor.ts";
import { findFactorSummary } from "./second-factors.store.ts";
import { deviceOfCookie } from "./trusted-browsers/trusted-browsers.ts";

export const ownerOf = ({ homeOrgId, id }: Pick<User, "homeOrgId" | "id">): FactorOwner => ({
  homeOrgId,
  userId: id,
});

/** @param deviceToken the cookie of a remembered browser; undefined where remembering does not count */
export async function factorStanding(
  db: Db,
  organisation: Organisation,
  user: User,
  { deviceToken, now }: { deviceToken: string | undefined; now: number },
): Promise<FactorStanding> {
  const summary = await findFactorSummary(db, ownerOf(user));
  const device = hasSecondFactor(summary) ? await deviceOfCookie(db, user, deviceToken, now) : undefined;
  return {
    ...summary,
    isRemembered: device !== undefined,
    isRequired: organisation.settings.secondFactor === "required",
    mayEnrol: user.homeOrgId === organisation.id,
  };
}

/**
 * Whether a session began before the organisation asked everybody for a second factor, and has shown none: it ends at the
 * same question as a new sign-in. @param browser as of `factorStanding`
 */
export async function lacksRequiredFactor(
  db: Db,
  organisation: Organisation,
  { session, user }: SignedIn,
  browser: Parameters<typeof factorStanding>[3],
): Promise<boolean> {
  const reached = assuranceOf(session.acr);
  if (organisation.settings.secondFactor !== "required" || reached >= assurance.multiFactor) return false;
  return usualAssurance(await factorStanding(db, organisation, user, browser)) > reached;
}
