/** The next step of a browser flow, decided in one place: login, second factor and consent all return here. */
import { OAuthError, type OAuthErrorCode } from "@signet/protocol/oauth/oauth-error";
import { consentModeOf } from "../../../core/applications/consent-mode.ts";
import { isAgent } from "../../../core/client-metadata/agent-application.ts";
import { type Consent, consentStatus, type RequestedScopes } from "../../../core/consents/consent.ts";
import type { Terms } from "../../../core/organisations/sign-up-settings.ts";
import {
  defaultAssurance,
  type FactorStatus,
  mayEnrolFor,
  mustAddPasskey,
  mustVerifyFactor,
} from "../../../core/second-factors/second-factor.ts";
import {
  type Assurance,
  assurance,
  isFresh,
  type Session,
  type SignedIn,
  toAssurance,
} from "../../../core/sessions/session.ts";
import type { AuthorizationRequest, SignInRequest } from "./request/authorization-request.ts";
import { preferredAssurances, requiredAssurance } from "./request/requested-acr.ts";

/** The steps shared by authorization requests and sign-ins for pages of this server. */
export type SignInStep =
  | { readonly kind: "login" }
  | { readonly kind: "select-account"; readonly signedIn: SignedIn }
  | FactorStep
  /** The application is limited to assigned users, and this user is not assigned. */
  | { readonly kind: "not-assigned"; readonly signedIn: SignedIn }
  | { readonly kind: "verify-email"; readonly signedIn: SignedIn }
  | TermsStep
  /** `prompt=create`: the browser has not signed up, or in, for this request. */
  | { readonly kind: "sign-up" }
  /** The user may add a passkey now, or later. */
  | { readonly kind: "passkey-offer"; readonly signedIn: SignedIn }
  | { readonly kind: "refuse"; readonly error: OAuthError };

/** The organisation's terms in a version that the user has not accepted. */
export type TermsStep = {
  readonly kind: "terms";
  readonly signedIn: SignedIn;
  readonly terms: Terms;
};

/** Verify or enrol a second factor that reaches this assurance. */
export type FactorStep = {
  readonly kind: "second-factor" | "enrolment";
  readonly signedIn: SignedIn;
  readonly required: Assurance;
};

export type NextStep =
  | SignInStep
  /** `adminConsentId`: the administrator's consent that "allow" continues with; null: the user's own consent is recorded. */
  | { readonly kind: "consent"; readonly signedIn: SignedIn; readonly adminConsentId: string | null }
  | { readonly kind: "ask-administrator"; readonly signedIn: SignedIn }
  | { readonly kind: "issue-code"; readonly signedIn: SignedIn; readonly consentId: string | null };

export interface SignInContext {
  readonly request: SignInRequest;
  /** When the request arrived: a later sign-in was made for it. */
  readonly startedAt: number;
  readonly now: number;
  readonly signedIn: SignedIn | undefined;
  readonly factors: FactorStatus | undefined;
  /** The `sub` of a valid `id_token_hint`; null for an invalid one. */
  readonly hintedUser: string | null | undefined;
  readonly isDenied?: boolean;
  readonly requiresVerifiedEmail?: boolean;
  readonly offersPasskey?: boolean;
  /** What the user has still to accept. */
  readonly terms?: Terms | undefined;
}

export interface AuthorizationContext extends SignInContext {
  readonly request: AuthorizationRequest;
  readonly access: RequestedScopes;
  readonly consents: readonly Consent[];
  /** The user has allowed just this in the flow, which has waited for an agent since then. */
  readonly isConsented?: boolean;
}

export function nextStep(context: AuthorizationContext): NextStep {
  const { request } = context;
  const step = signInStep(context);
  if (step.kind !== "signed-in") return step;
  const { signedIn } = step;
  const mode = consentModeOf(request.application.settings);
  const consent = consentStatus(mode, context.consents, context.access);
  if (consent.kind === "ask-administrator") {
    const step = { kind: "ask-administrator", signedIn } as const;
    return ask<NextStep>(request, step, "consent_required", "an administrator must consent");
  }
  // Authorization details are of one act: no consent from before, of whomever, is to this one.
  const hasNewDetails = (context.access.details?.length ?? 0) > 0 && !context.isConsented;
  // Nobody has looked at such a client but the user, who sees each time what it asks for.
  const isAlwaysAsked = isAgent(request.application);
  if (consent.kind === "ask-user" || hasNewDetails || isAlwaysAsked || request.prompts.includes("consent")) {
    // Where only administrators consent, the user can continue or cancel, and no consent is recorded.
    const adminConsentId = consent.kind === "settled" && mode === "organisation" ? consent.consentId : null;
    const step = { kind: "consent", signedIn, adminConsentId } as const;
    return ask<NextStep>(request, step, "consent_required", "the user must consent");
  }
  return { kind: "issue-code", signedIn, consentId: consent.consentId };
}

/** The steps before consent: `signed-in` once the user is authenticated as the request requires. */
export function signInStep(
  context: SignInContext,
): SignInStep | { readonly kind: "signed-in"; readonly signedIn: SignedIn } {
  const { request, signedIn } = context;
  // OpenID Connect Initiating User Registration 1.0 §4.1.
  if (request.prompts.includes("create") && !(signedIn && signedInForRequest(context, signedIn)))
    return { kind: "sign-up" };
  if (!signedIn || mustReauthenticate(context, signedIn))
    return ask(request, { kind: "login" }, "login_required", "the user must sign in");
  if (isAnotherUser(context, signedIn)) {
    // OpenID Connect Core §3.1.2.1: a new sign-in as another user than the hint's is an error, not another attempt.
    const error = new OAuthError("login_required", "another user is signed in", { status: 400 });
    return isSilent(request) || signedInForRequest(context, signedIn)
      ? { kind: "refuse", error }
      : { kind: "login" };
  }
  if (request.prompts.includes("select_account") && !signedInForRequest(context, signedIn)) {
    return { kind: "select-account", signedIn };
  }
  return (
    factorStep(context, signedIn) ??
    accessStep(context, signedIn) ??
    termsStep(context, signedIn) ??
    verifyEmailStep(context, signedIn) ??
    offerStep(context, signedIn) ?? { kind: "signed-in", signedIn }
  );
}

/** Disclosed only after authentication. */
function accessStep({ request, isDenied }: SignInContext, signedIn: SignedIn): SignInStep | undefined {
  if (!isDenied) return undefined;
  const step: SignInStep = { kind: "not-assigned", signedIn };
  return ask(request, step, "access_denied", "the user may not use this application");
}

/** Asked of who may use the application, and before anything is issued for it. */
function termsStep({ request, terms }: SignInContext, signedIn: SignedIn): SignInStep | undefined {
  if (!terms) return undefined;
  const step: SignInStep = { kind: "terms", signedIn, terms };
  return ask(request, step, "interaction_required", "the user must accept the terms");
}

function verifyEmailStep({ request, requiresVerifiedEmail }: SignInContext, signedIn: SignedIn) {
  if (!requiresVerifiedEmail || signedIn.user.emailVerified) return undefined;
  const step: SignInStep = { kind: "verify-email", signedIn };
  return ask(request, step, "interaction_required", "the user must verify their email address");
}

/** Right after a sign-in, never in the way of what asks for none. */
const offerStep = (context: SignInContext, signedIn: SignedIn): SignInStep | undefined =>
  context.offersPasskey && signedInForRequest(context, signedIn) && !isSilent(context.request)
    ? { kind: "passkey-offer", signedIn }
    : undefined;

/** Never due before the second factor is. */
type Later = "select-account" | "not-assigned" | "passkey-offer" | "terms" | "sign-up";

/**
 * The second-factor step that is due, also for a verified password before its session exists.
 * @returns undefined when the sign-in reaches the required assurance
 */
export function factorStep(
  context: Pick<SignInContext, "request" | "now" | "factors">,
  signedIn: SignedIn,
): Exclude<SignInStep, { kind: Later }> | undefined {
  const { request, now, factors } = context;
  const { session } = signedIn;
  const reached = toAssurance(session.acr);
  const minimum = requiredAssurance(request.acr);
  if (minimum === undefined || !factors) return unmet("the requested acr is not supported");
  const required = Math.max(
    minimum,
    reachablePreference(request, session, factors),
    defaultAssurance(factors),
    mustAddPasskey(factors, session) ? assurance.phishingResistant : assurance.none,
  ) as Assurance;
  if (reached >= required) return undefined;

  // An existing factor is verified before another is enrolled: the password alone must not replace it.
  const verifies = canReach(factors, required)
    ? required
    : mustVerifyFactor(factors) && reached < assurance.multiFactor && assurance.multiFactor;
  if (verifies !== false) {
    const step: FactorStep = { kind: "second-factor", signedIn, required: verifies };
    return ask(request, step, "login_required", "the user must verify a second factor");
  }
  if (!mayEnrolFor(factors, required))
    return unmet("the user has no second factor of this kind and can't enrol one here");
  const step: SignInStep = isFresh(session, now)
    ? { kind: "enrolment", signedIn, required }
    : { kind: "login" };
  return ask(request, step, "interaction_required", "the user must enrol a second factor");
}

/**
 * A preferred acr applies to users who can reach it. It never requires an enrolment (wire-contract.md §2) and never fails a
 * request with `prompt=none`.
 */
function reachablePreference(request: SignInRequest, { acr }: Session, factors: FactorStatus): Assurance {
  const preferred = isSilent(request) ? [] : preferredAssurances(request.acr);
  if (preferred.some((level) => level <= toAssurance(acr))) return assurance.none;
  return preferred.find((level) => canReach(factors, level)) ?? assurance.none;
}

const canReach = (factors: FactorStatus, level: Assurance): boolean =>
  level === assurance.phishingResistant ? factors.passkeys > 0 : mustVerifyFactor(factors);

const isSilent = ({ prompts }: SignInRequest): boolean => prompts.includes("none");

/** The step, or with `prompt=none` its error. */
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

function signedInForRequest({ startedAt }: SignInContext, { session }: SignedIn): boolean {
  return session.authTime >= startedAt;
}

function mustReauthenticate(context: SignInContext, signedIn: SignedIn): boolean {
  if (signedInForRequest(context, signedIn)) return false;
  const { request, now } = context;
  if (request.prompts.includes("login")) return true;
  const { authTime } = signedIn.session;
  return request.maxAgeSeconds !== undefined && authTime + request.maxAgeSeconds * 1000 < now;
}

/** An invalid hint names no user: any new sign-in satisfies it, and no existing session does. */
function isAnotherUser(context: SignInContext, signedIn: SignedIn): boolean {
  const { hintedUser, request } = context;
  if (hintedUser === null) return request.prompts.includes("none") || !signedInForRequest(context, signedIn);
  return hintedUser !== undefined && hintedUser !== signedIn.user.id;
}
