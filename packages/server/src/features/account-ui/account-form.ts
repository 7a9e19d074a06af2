/** Accepting a form of an account page: as in page-kit/accept-form.ts, by anyone who may make the change. */
import { checkForm, type FormOutcome, requireSameOrigin, type SentForm } from "../../page-kit/accept-form.ts";
import type { Visit } from "../../page-kit/page.ts";
import { showWaitingForm } from "../../page-kit/reauthentication.ts";
import { type AccountDeps, accountFrame, accountPath, type Change, requireChanger } from "./account-page.ts";

export interface AccountForm extends Change {
  /** Whoever is signed in may do it: it only takes something away, or lets nobody in. */
  readonly needsNoProof?: boolean;
  /** Fields that never wait in a page while the user signs in again: passwords and codes. */
  readonly secrets?: readonly string[];
}

/**
 * Every POST of an account page comes through here.
 * @param returnTo where the browser goes after a sign-in, when there is no session at all
 * @throws OAuthError 403 for another site's form, SignInRequired, SeeOther
 */
export async function acceptAccountForm(
  deps: AccountDeps,
  visit: Visit,
  returnTo: string,
  form: AccountForm = {},
): Promise<FormOutcome> {
  requireSameOrigin(deps, visit);
  const signedIn = await requireChanger(deps, visit, returnTo, form);
  const { needsNoProof = false, secrets = [] } = form;
  return checkForm(deps, visit, signedIn, { needsProof: !needsNoProof, secrets });
}

/** Where the user signs in again, in another tab, while a form waits. */
export const CONFIRM_IDENTITY = "confirm-identity";

/**
 * Answers a form with outcome `reauthenticate`.
 * @param waiting.carried fields that we made for the session before, remade to outlast it
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
