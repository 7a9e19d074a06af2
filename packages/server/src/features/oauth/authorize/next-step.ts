/**
 * The only place that decides what comes next in a browser flow. Login, second factor and consent never call each other:
 * each does its part, then asks here again.
 */
import { OAuthError, type OAuthErrorCode } from "@signet/protocol/oauth-error";
import type { Consent } from "../../../core/consents/consent.ts";
import { coveringConsent } from "../../../core/consents/consent.ts";
import type { SignedIn } from "../../../core/sessions/session.ts";
import type { AuthorizationRequest } from "./authorization-request.ts";

export type NextStep =
  | { readonly kind: "login" }
  | { readonly kind: "select-account"; readonly signedIn: SignedIn }
  | { readonly kind: "consent"; readonly signedIn: SignedIn }
  | { readonly kind: "issue-code"; readonly signedIn: SignedIn; readonly consentId: string | null }
  | { readonly kind: "refuse"; readonly error: OAuthError };

export interface Situation {
  readonly request: AuthorizationRequest;
  /** When this request first came: a sign-in since then was made for it. */
  readonly startedAt: number;
  readonly now: number;
  readonly signedIn: SignedIn | undefined;
  /** The `sub` of a genuine `id_token_hint`; null when there was a hint that is not. */
  readonly hintedUser: string | null | undefined;
  /** The living consents of this user and application. */
  readonly consents: readonly Consent[];
}

export function nextStep(situation: Situation): NextStep {
  const { request, signedIn } = situation;
  const silent = request.prompts.includes("none");
  const ask = (step: NextStep, code: OAuthErrorCode, description: string): NextStep =>
    silent ? { kind: "refuse", error: new OAuthError(code, description, { status: 400 }) } : step;

  if (!signedIn || mustSignInAgain(situation, signedIn))
    return ask({ kind: "login" }, "login_required", "the user must sign in");
  if (isSomebodyElse(situation, signedIn)) {
    // OpenID Connect Core §3.1.2.1: after a sign-in that was made for this request, somebody else stays somebody else.
    const justSignedIn = isMadeForThis(situation, signedIn);
    const error = new OAuthError("login_required", "another user is signed in", { status: 400 });
    return silent || justSignedIn ? { kind: "refuse", error } : { kind: "login" };
  }
  if (request.prompts.includes("select_account") && !isMadeForThis(situation, signedIn)) {
    return { kind: "select-account", signedIn };
  }
  const consent = coveringConsent(situation.consents, request.scopes);
  const settled = consent !== undefined || !request.application.settings.requireConsent;
  if (!settled || request.prompts.includes("consent")) {
    return ask({ kind: "consent", signedIn }, "consent_required", "the user must consent");
  }
  return { kind: "issue-code", signedIn, consentId: consent?.id ?? null };
}

function isMadeForThis({ startedAt }: Situation, { session }: SignedIn): boolean {
  return session.authTime >= startedAt;
}

function mustSignInAgain(situation: Situation, signedIn: SignedIn): boolean {
  if (isMadeForThis(situation, signedIn)) return false;
  const { request, now } = situation;
  if (request.prompts.includes("login")) return true;
  const { authTime } = signedIn.session;
  return request.maxAgeSeconds !== undefined && authTime + request.maxAgeSeconds * 1000 < now;
}

/** A hint that is not genuine names nobody: whoever signs in anew is as good as any, and in silence nobody is. */
function isSomebodyElse(situation: Situation, signedIn: SignedIn): boolean {
  const { hintedUser, request } = situation;
  if (hintedUser === null) return request.prompts.includes("none") || !isMadeForThis(situation, signedIn);
  return hintedUser !== undefined && hintedUser !== signedIn.user.id;
}
