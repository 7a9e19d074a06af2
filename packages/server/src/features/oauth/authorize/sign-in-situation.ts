/** Gathers what next-step.ts decides by. */
import { mayUse } from "../../../core/application-access/application-access.ts";
import type { Application } from "../../../core/applications/application.ts";
import type { Organisation } from "../../../core/organisations/organisation.ts";
import { factorStanding, lacksRequiredFactor } from "../../../core/second-factors/factor-status.ts";
import type { FactorStanding } from "../../../core/second-factors/second-factor.ts";
import type { SignedIn } from "../../../core/sessions/session.ts";
import { readIdTokenHint } from "../../../core/tokens/id-token-hint.ts";
import type { User } from "../../../core/users/user.ts";
import { type BrowserDeps, type Visit, whoIsThere } from "./browser.ts";
import type { Flow } from "./flow.ts";
import type { SignInSituation } from "./next-step.ts";
import type { PageRequest } from "./page-request.ts";
import type { AuthorizationRequest } from "./request/authorization-request.ts";

export async function signInSituation(
  deps: BrowserDeps,
  visit: Visit,
  flow: Flow,
  request: AuthorizationRequest | PageRequest,
): Promise<SignInSituation> {
  const signedIn = await whoIsThere(deps, visit);
  return {
    request,
    startedAt: flow.startedAt,
    now: deps.clock(),
    signedIn,
    factors: signedIn && (await standingHere(deps, visit, request, signedIn.user)),
    hintedUser:
      claimedUser(request, signedIn?.user.id) ??
      (await hintedUser(deps, visit.organisation, request.idTokenHint)),
    isKeptOut: signedIn !== undefined && !(await isAdmitted(deps, request.application, signedIn.user)),
    requiresVerifiedEmail: visit.organisation.settings.requireVerifiedEmail,
  };
}

const isAdmitted = async ({ database }: BrowserDeps, application: Application | undefined, user: User) =>
  application === undefined || mayUse(database.query, application, user.id);

/**
 * What second factors the user has, and whether this browser is remembered for them. Remembering spares the question on
 * the way to an application, never before a change of the account itself.
 */
export function standingHere(
  deps: BrowserDeps,
  { organisation, request }: Visit,
  asked: AuthorizationRequest | PageRequest,
  user: User,
): Promise<FactorStanding> {
  const counts = !("page" in asked) || asked.page.place !== "account";
  const deviceToken = counts ? deps.secondFactors.devices.read(request, organisation.id) : undefined;
  return factorStanding(deps.database.query, organisation, user, { deviceToken, now: deps.clock() });
}

/** For pages that show: whether the session is one that a new sign-in would ask for a second factor. */
export const lacksFactorHere = (
  deps: BrowserDeps,
  { organisation, request }: Pick<Visit, "organisation" | "request">,
  signedIn: SignedIn,
): Promise<boolean> =>
  lacksRequiredFactor(deps.database.query, organisation, signedIn, {
    deviceToken: deps.secondFactors.devices.read(request, organisation.id),
    now: deps.clock(),
  });

/**
 * OpenID Connect Core §5.5.1: a `sub` that is asked for with a value is answered for that user or not at all; of several,
 * whoever of them is here.
 */
function claimedUser(
  request: AuthorizationRequest | PageRequest,
  signedInUser: string | undefined,
): string | undefined {
  if ("page" in request) return undefined;
  const { idToken } = request.requestedClaims;
  const values = Object.hasOwn(idToken, "sub") ? idToken["sub"]?.values : undefined;
  // What is no text names nobody, and is never made one: an object of a stranger's JSON cannot be.
  const subjects = values?.filter((value) => typeof value === "string");
  if (subjects === undefined) return undefined;
  return subjects.find((subject) => subject === signedInUser) ?? subjects[0] ?? "";
}

/** An expired ID token is still a fine hint; one that we did not sign names nobody (null). */
async function hintedUser(
  deps: BrowserDeps,
  organisation: Organisation,
  hint: string | undefined,
): Promise<string | null | undefined> {
  if (hint === undefined) return undefined;
  const { sub } = (await readIdTokenHint(deps, organisation, hint)) ?? {};
  return typeof sub === "string" ? sub : null;
}
