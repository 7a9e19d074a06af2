/** Loads the second factors of a user in a browser, and whether one is missing. */
import type { Db } from "../../db/open.ts";
import { isEnforced } from "../domains/enforced-sign-in.ts";
import type { Organisation } from "../organisations/organisation.ts";
import { offeredFactors, offersFactor, requiresPasskeys } from "../organisations/sign-in-methods.ts";
import { type Assurance, assurance, isFresh, type SignedIn, toAssurance } from "../sessions/session.ts";
import type { User } from "../users/user.ts";
import {
  defaultAssurance,
  type FactorOwner,
  type FactorStatus,
  mustAddPasskey,
  mustVerifyFactor,
} from "./second-factor.ts";
import { findFactorSummary } from "./second-factors.store.ts";
import { findTrustedBrowser } from "./trusted-browsers/trusted-browsers.store.ts";

export const factorOwner = ({ homeOrgId, id }: Pick<User, "homeOrgId" | "id">): FactorOwner => ({
  homeOrgId,
  userId: id,
});

/** @param trustedBrowserToken the cookie of a trusted browser; undefined where trust is not accepted */
export async function factorStatus(
  db: Db,
  organisation: Organisation,
  user: User,
  { trustedBrowserToken, now }: { trustedBrowserToken: string | undefined; now: number },
): Promise<FactorStatus> {
  const summary = await findFactorSummary(db, factorOwner(user));
  const trusted = mustVerifyFactor(summary)
    ? await findTrustedBrowser(db, user, trustedBrowserToken, now)
    : undefined;
  return {
    ...summary,
    isTrusted: trusted !== undefined,
    isRequired: organisation.settings.secondFactor === "required",
    requiresPasskey: requiresPasskeys(organisation.settings),
    offered: offeredFactors(organisation.settings),
    mayEnrol: user.homeOrgId === organisation.id,
    mustAddPasskey:
      organisation.settings.passkeyEnrolment === "required" &&
      summary.passkeys === 0 &&
      (await mayAddPasskey(db, organisation, user)),
  };
}

/** Not users of a domain that is enforced: their passkeys would sign nobody in. */
export const mayAddPasskey = async (db: Db, { id, settings }: Organisation, user: User): Promise<boolean> =>
  user.homeOrgId === id && offersFactor(settings, "passkey") && !(await isEnforced(db, id, user.email));

/** Whether the organisation requires a factor that the session has not verified, e.g. because it is older. */
export async function lacksRequiredFactor(
  db: Db,
  organisation: Organisation,
  { session, user }: SignedIn,
  browser: Parameters<typeof factorStatus>[3],
): Promise<boolean> {
  const reached = toAssurance(session.acr);
  if (reached >= strongestDemand(organisation.settings)) return false;
  const factors = await factorStatus(db, organisation, user, browser);
  return defaultAssurance(factors) > reached || mustAddPasskey(factors, session);
}

/** What no user of the organisation needs more than: most sessions are answered without a query. */
function strongestDemand(settings: Organisation["settings"]): Assurance {
  if (settings.passkeyEnrolment === "required") return assurance.phishingResistant;
  if (requiresPasskeys(settings) || !offeredFactors(settings).includes("totp"))
    return assurance.phishingResistant;
  return settings.secondFactor === "required" ? assurance.multiFactor : assurance.none;
}

/** What a session lacks for a sensitive change, which a stolen or trusted browser must not be able to make. */
export type AuthenticationRequirement = "fresh-sign-in" | "second-factor";

/** A user with a second factor must have verified it: a trusted browser is not enough. @param now milliseconds */
export async function missingAuthenticationRequirement(
  db: Db,
  { session, user }: SignedIn,
  now: number,
): Promise<AuthenticationRequirement | undefined> {
  if (!isFresh(session, now)) return "fresh-sign-in";
  const summary = await findFactorSummary(db, factorOwner(user));
  return mustVerifyFactor(summary) && toAssurance(session.acr) < assurance.multiFactor
    ? "second-factor"
    : undefined;
}
