/** Loads what next-step.ts decides by. */
import { sha256Base64url } from "@signet/protocol/hash";
import { mayUse } from "../../../core/application-access/application-access.ts";
import type { Organisation } from "../../../core/organisations/organisation.ts";
import {
  factorOwner,
  factorStatus,
  lacksRequiredFactor,
  mayAddPasskey,
} from "../../../core/second-factors/factor-status.ts";
import type { FactorStatus } from "../../../core/second-factors/second-factor.ts";
import { findFactorSummary } from "../../../core/second-factors/second-factors.store.ts";
import { isFresh, type SignedIn } from "../../../core/sessions/session.ts";
import { dueTerms } from "../../../core/terms/terms.ts";
import { readIdTokenHint } from "../../../core/tokens/id-token-hint.ts";
import type { User } from "../../../core/users/user.ts";
import { type BrowserDeps, currentSession, type Visit } from "./browser.ts";
import type { Flow } from "./flow.ts";
import type { SignInContext } from "./next-step.ts";
import type { PageRequest } from "./page-request.ts";
import type { AuthorizationRequest } from "./request/authorization-request.ts";

export async function loadSignInContext(
  deps: BrowserDeps,
  visit: Visit,
  flow: Flow,
  request: AuthorizationRequest | PageRequest,
): Promise<SignInContext> {
  const signedIn = await currentSession(deps, visit);
  const user = signedIn?.user;
  const { application } = request;
  return {
    request,
    startedAt: flow.startedAt,
    now: deps.clock(),
    signedIn,
    factors: user && (await browserFactorStatus(deps, visit, request, user)),
    hintedUser:
      requestedSubject(request, user?.id) ??
      (await hintedUser(deps, visit.organisation, request.idTokenHint)),
    isDenied:
      user !== undefined &&
      application !== undefined &&
      !(await mayUse(deps.database.query, application, user.id)),
    offersPasskey: signedIn !== undefined && (await offersPasskey(deps, visit, request, signedIn)),
    terms:
      user && issuesForPlace(request)
        ? await dueTerms(deps.database.query, visit.organisation, user)
        : undefined,
    requiresVerifiedEmail: visit.organisation.settings.requireVerifiedEmail,
  };
}

/** Account and console issue nothing: whoever declines the terms can still delete the account, or change the terms. */
const issuesForPlace = (request: AuthorizationRequest | PageRequest): boolean =>
  !("page" in request) || !(["account", "console"] as readonly string[]).includes(request.page.place);

/** Whoever has said "later" in this browser is not asked again for a month; nor is who confirms a change. */
async function offersPasskey(
  deps: BrowserDeps,
  visit: Visit,
  request: AuthorizationRequest | PageRequest,
  { session, user }: SignedIn,
): Promise<boolean> {
  const { organisation } = visit;
  if (organisation.settings.passkeyEnrolment !== "offer" || session.amr.includes("fed")) return false;
  if (("page" in request && request.isConfirmation) || !isFresh(session, deps.clock())) return false;
  if (deps.postponedPasskeys.read(visit.request, organisation.id) === postponed(user)) return false;
  const { passkeys } = await findFactorSummary(deps.database.query, factorOwner(user));
  return passkeys === 0 && mayAddPasskey(deps.database.query, organisation, user);
}

/** The cookie of this user: whoever shares the browser is asked too. */
export const postponed = ({ id, homeOrgId }: User): string =>
  `sgn_pp_${sha256Base64url(`passkey-later|${homeOrgId}|${id}`)}`;

/**
 * The user's second factors, and whether this browser is trusted. A trusted browser skips the second factor on the way to
 * an application, never before a change of the account itself, or the answer to a request.
 */
export function browserFactorStatus(
  deps: BrowserDeps,
  { organisation, request }: Visit,
  signInRequest: AuthorizationRequest | PageRequest,
  user: User,
): Promise<FactorStatus> {
  const isTrustAccepted =
    !("page" in signInRequest) || !["account", "request"].includes(signInRequest.page.place);
  const trustedBrowserToken = isTrustAccepted
    ? deps.secondFactors.trustedBrowsers.read(request, organisation.id)
    : undefined;
  return factorStatus(deps.database.query, organisation, user, { trustedBrowserToken, now: deps.clock() });
}

/** Whether a new sign-in with this browser would require a second factor that the session lacks. */
export const lacksRequiredFactorInBrowser = (
  deps: BrowserDeps,
  { organisation, request }: Pick<Visit, "organisation" | "request">,
  signedIn: SignedIn,
): Promise<boolean> =>
  lacksRequiredFactor(deps.database.query, organisation, signedIn, {
    trustedBrowserToken: deps.secondFactors.trustedBrowsers.read(request, organisation.id),
    now: deps.clock(),
  });

/**
 * OpenID Connect Core §5.5.1: a `sub` requested with values must be one of these users; of several, the signed-in one.
 */
function requestedSubject(
  request: AuthorizationRequest | PageRequest,
  signedInUser: string | undefined,
): string | undefined {
  if ("page" in request) return undefined;
  const { idToken } = request.requestedClaims;
  const values = Object.hasOwn(idToken, "sub") ? idToken["sub"]?.values : undefined;
  // Values that aren't strings match no user, and are never converted: the JSON is untrusted.
  const subjects = values?.filter((value) => typeof value === "string");
  if (subjects === undefined) return undefined;
  return subjects.find((subject) => subject === signedInUser) ?? subjects[0] ?? "";
}

/** An expired ID token is accepted as a hint; null for one that this server did not sign. */
async function hintedUser(
  deps: BrowserDeps,
  organisation: Organisation,
  hint: string | undefined,
): Promise<string | null | undefined> {
  if (hint === undefined) return undefined;
  const { sub } = (await readIdTokenHint(deps, organisation, hint)) ?? {};
  return typeof sub === "string" ? sub : null;
}
