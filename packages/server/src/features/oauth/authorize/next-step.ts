/**
 * The only place that decides what comes next in a browser flow. Login, second factor and consent never call each other:
 * each does its part, then asks here again.
 */
import { OAuthError, type OAuthErrorCode } from "@signet/protocol/oauth/oauth-error";
import { consentModeOf } from "../../../core/applications/consent-mode.ts";
import { type AskedScopes, type Consent, consentStanding } from "../../../core/consents/consent.ts";
import {
  type FactorStanding,
  hasSecondFactor,
  usualAssurance,
} from "../../../core/second-factors/second-factor.ts";
import { type Assurance, assurance, assuranceOf } from "../../../core/sessions/assurance.ts";
import { isFresh, type Session, type SignedIn } from "../../../core/sessions/session.ts";
import type { AuthorizationRequest, SignInRequest } from "./request/authorization-request.ts";
import { demandedAssurance, wishedAssurances } from "./request/requested-acr.ts";

/** What an authorization request and a page of our own have in common. */
export type SignInStep =
  | { readonly kind: "login" }
  | { readonly kind: "select-account"; readonly signedIn: SignedIn }
  | FactorStep
  /** The application is for assigned users, and this one is not among them. */
  | { readonly kind: "not-assigned"; readonly signedIn: SignedIn }
  /** The organisation wants to know first that the address is the user's. */
  | { readonly kind: "verify-email"; readonly signedIn: SignedIn }
  | { readonly kind: "refuse"; readonly error: OAuthError };

/** A second factor is to be shown, or to be added first, that reaches at least this much. */
export type FactorStep = {
  readonly kind: "second-factor" | "enrolment";
  readonly signedIn: SignedIn;
  readonly atLeast: Assurance;
};

export type NextStep =
  | SignInStep
  /** `restsOn`: the administrator's record that a yes goes on with; null: the yes is the user's own. */
  | { readonly kind: "consent"; readonly signedIn: SignedIn; readonly restsOn: string | null }
  | { readonly kind: "ask-administrator"; readonly signedIn: SignedIn }
  | { readonly kind: "issue-code"; readonly signedIn: SignedIn; readonly consentId: string | null };

export interface SignInSituation {
  readonly request: SignInRequest;
  /** When this request first came: a sign-in since then was made for it. */
  readonly startedAt: number;
  readonly now: number;
  readonly signedIn: SignedIn | undefined;
  /** What second factors this user has, in this browser; undefined when nobody is signed in. */
  readonly factors: FactorStanding | undefined;
  /** The `sub` of a genuine `id_token_hint`; null when there was a hint that is not. */
  readonly hintedUser: string | null | undefined;
  /** The application is for assigned users, and who is signed in is not one of them. */
  readonly isKeptOut?: boolean;
  /** The organisation lets nobody go on whose address is not confirmed. */
  readonly requiresVerifiedEmail?: boolean;
}

export interface Situation extends SignInSituation {
  readonly request: AuthorizationRequest;
  readonly asked: AskedScopes;
  /** The living consents of this user and application. */
  readonly consents: readonly Consent[];
}

export function nextStep(situation: Situation): NextStep {
  const { request } = situation;
  const step = signInStep(situation);
  if (step.kind !== "signed-in") return step;
  const { signedIn } = step;
  const mode = consentModeOf(request.application.settings);
  const standing = consentStanding(mode, situation.consents, situation.asked);
  if (standing.kind === "ask-administrator") {
    const step = { kind: "ask-administrator", signedIn } as const;
    return ask<NextStep>(request, step, "consent_required", "an administrator must consent");
  }
  if (standing.kind === "ask-user" || request.prompts.includes("consent")) {
    // Where only administrators consent, a user who is shown what they allowed can go on or not, and changes nothing.
    const restsOn = standing.kind === "settled" && mode === "organisation" ? standing.consentId : null;
    const step = { kind: "consent", signedIn, restsOn } as const;
    return ask<NextStep>(request, step, "consent_required", "the user must consent");
  }
  return { kind: "issue-code", signedIn, consentId: standing.consentId };
}

/** Everything before the question of what the application gets: `signed-in` when somebody is here, proven enough. */
export function signInStep(
  situation: SignInSituation,
): SignInStep | { readonly kind: "signed-in"; readonly signedIn: SignedIn } {
  const { request, signedIn } = situation;
  if (!signedIn || mustSignInAgain(situation, signedIn))
    return ask(request, { kind: "login" }, "login_required", "the user must sign in");
  if (isSomebodyElse(situation, signedIn)) {
    // OpenID Connect Core §3.1.2.1: after a sign-in that was made for this request, somebody else stays somebody else.
    const justSignedIn = isMadeForThis(situation, signedIn);
    const error = new OAuthError("login_required", "another user is signed in", { status: 400 });
    return isSilent(request) || justSignedIn ? { kind: "refuse", error } : { kind: "login" };
  }
  if (request.prompts.includes("select_account") && !isMadeForThis(situation, signedIn)) {
    return { kind: "select-account", signedIn };
  }
  return (
    factorStep(situation, signedIn) ??
    accessStep(situation, signedIn) ??
    addressStep(situation, signedIn) ?? { kind: "signed-in", signedIn }
  );
}

/** Told to those alone who have proven who they are. */
function accessStep({ request, isKeptOut = false }: SignInSituation, signedIn: SignedIn) {
  if (!isKeptOut) return undefined;
  const step: SignInStep = { kind: "not-assigned", signedIn };
  return ask(request, step, "access_denied", "the user may not use this application");
}

function addressStep(
  { request, requiresVerifiedEmail = false }: SignInSituation,
  signedIn: SignedIn,
): SignInStep | undefined {
  if (!requiresVerifiedEmail || signedIn.user.emailVerified) return undefined;
  const step = { kind: "verify-email", signedIn } as const;
  return ask(request, step, "interaction_required", "the user must confirm their email address");
}

/**
 * Whether a second factor is due. Asked before a session exists too, with the sign-in that the right password began:
 * what is due then is shown before there is a session.
 * @returns undefined when the sign-in is proven enough
 */
export function factorStep(
  situation: Pick<SignInSituation, "request" | "now" | "factors">,
  signedIn: SignedIn,
): Exclude<SignInStep, { kind: "select-account" | "not-assigned" }> | undefined {
  const { request, now, factors } = situation;
  const { session } = signedIn;
  const reached = assuranceOf(session.acr);
  const demanded = demandedAssurance(request.acr);
  if (demanded === undefined || !factors) return unmet("the acr that is asked for cannot be reached");
  const atLeast = Math.max(
    demanded,
    wishWithinReach(request, session, factors),
    usualAssurance(factors),
  ) as Assurance;
  if (reached >= atLeast) return undefined;

  const showing = (level: Assurance) =>
    ask<FactorStep>(
      request,
      { kind: "second-factor", signedIn, atLeast: level },
      "login_required",
      "the user must show a second factor",
    );
  if (canShow(factors, atLeast)) return showing(atLeast);
  // Who has a factor shows it before another is added: a password alone must not be enough to get around it.
  if (hasSecondFactor(factors) && reached < assurance.multiFactor) return showing(assurance.multiFactor);
  if (!factors.mayEnrol) return unmet("the user has no second factor of this kind and cannot add one here");
  const adding: SignInStep = isFresh(session, now)
    ? { kind: "enrolment", signedIn, atLeast }
    : { kind: "login" };
  return ask(request, adding, "interaction_required", "the user must add a second factor");
}

/**
 * A wish asks those who can meet it; it never makes anybody add a factor (wire-contract.md §2), and never fails a silent
 * request.
 */
function wishWithinReach(request: SignInRequest, { acr }: Session, factors: FactorStanding): Assurance {
  const wishes = isSilent(request) ? [] : wishedAssurances(request.acr);
  if (wishes.some((wish) => wish <= assuranceOf(acr))) return assurance.none;
  return wishes.find((wish) => canShow(factors, wish)) ?? assurance.none;
}

const canShow = (factors: FactorStanding, level: Assurance): boolean =>
  level === assurance.phishingResistant ? factors.passkeys > 0 : hasSecondFactor(factors);

const isSilent = ({ prompts }: SignInRequest): boolean => prompts.includes("none");

/** A page, or with `prompt=none` the error that stands for it. */
function ask<Step>(
  request: SignInRequest,
  step: Step,
  code: OAuthErrorCode,
  description: string,
): Step | { readonly kind: "refuse"; readonly error: OAuthError } {
  if (!isSilent(request)) return step;
  return { kind: "refuse", error: new OAuthError(code, description, { status: 400 }) };
}

/** OpenID Connect Core Unmet Authentication Requirements 1.0. */
function unmet(description: string): { readonly kind: "refuse"; readonly error: OAuthError } {
  const error = new OAuthError("unmet_authentication_requirements", description, { status: 400 });
  return { kind: "refuse", error };
}

function isMadeForThis({ startedAt }: SignInSituation, { session }: SignedIn): boolean {
  return session.authTime >= startedAt;
}

function mustSignInAgain(situation: SignInSituation, signedIn: SignedIn): boolean {
  if (isMadeForThis(situation, signedIn)) return false;
  const { request, now } = situation;
  if (request.prompts.includes("login")) return true;
  const { authTime } = signedIn.session;
  return request.maxAgeSeconds !== undefined && authTime + request.maxAgeSeconds * 1000 < now;
}

/** A hint that is not genuine names nobody: whoever signs in anew is as good as any, and in silence nobody is. */
function isSomebodyElse(situation: SignInSituation, signedIn: SignedIn): boolean {
  const { hintedUser, request } = situation;
  if (hintedUser === null) return request.prompts.includes("none") || !isMadeForThis(situation, signedIn);
  return hintedUser !== undefined && hintedUser !== signedIn.user.id;
}
