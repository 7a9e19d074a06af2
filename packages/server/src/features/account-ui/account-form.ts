/** Accepts the forms of account pages: same origin, session, CSRF token and recent authentication (page-kit/accept-form.ts). */
import { checkForm, type FormOutcome, requireSameOrigin, type SentForm } from "../../page-kit/accept-form.ts";
import type { Visit } from "../../page-kit/page.ts";
import { showWaitingForm } from "../../page-kit/reauthentication.ts";
import {
  type AccountDeps,
  accountFrame,
  accountPath,
  type ChangePolicy,
  requireChangeAllowed,
} from "./account-page.ts";

export interface AccountForm extends ChangePolicy {
  /** Accepted without recent authentication: the change revokes access or grants none. */
  readonly allowsOldSignIn?: boolean;
  /** Fields to type again after reauthentication: passwords and codes. */
  readonly secrets?: readonly string[];
}

/**
 * Every POST handler of an account page starts with this.
 * @param returnTo where the browser returns after signing in, if there is no session
 * @throws OAuthError 403 for a cross-origin form; SignInRequired, SeeOther
 */
export async function acceptAccountForm(
  deps: AccountDeps,
  visit: Visit,
  returnTo: string,
  form: AccountForm = {},
): Promise<FormOutcome> {
  requireSameOrigin(deps, visit);
  const signedIn = await requireChangeAllowed(deps, visit, returnTo, form);
  const { allowsOldSignIn = false, secrets = [] } = form;
  return checkForm(deps, visit, signedIn, { needsRecentSignIn: !allowsOldSignIn, secrets });
}

/** The page where the user reauthenticates in another tab while the form waits. */
export const CONFIRM_IDENTITY = "confirm-identity";

/**
 * Responds to a form with outcome `reauthenticate`.
 * @param waiting.carried fields bound to the previous session, rebound to outlast it
 */
export async function askForIdentity(
  deps: AccountDeps,
  visit: Visit,
  form: SentForm,
  waiting: { readonly secrets?: readonly string[]; readonly carried?: Readonly<Record<string, string>> } = {},
): Promise<void> {
  await showWaitingForm(deps, visit, form, {
    frame: accountFrame(visit, form.signedIn.user, undefined),
    signInUri: accountPath(visit.organisation, CONFIRM_IDENTITY),
    ...waiting,
  });
}
