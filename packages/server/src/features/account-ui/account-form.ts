/** A form of an account page that was sent: ours, proven enough for what it changes, and what was typed not lost. */
import { type NotTaken, received, type Submission } from "../../page-kit/sent-form.ts";
import type { Visit } from "../../page-kit/visit.ts";
import {
  type AccountDeps,
  accountFrame,
  accountPath,
  type Change,
  comesToChange,
  isOpenTo,
} from "./account-page.ts";

export interface AccountForm extends Change {
  /** Shows the form once more with what was typed: 403 when it is none of ours, too old, or no text; or for its secrets to be typed. */
  again(sent: Submission, failure: NotTaken | undefined): Promise<void>;
  /** True where whoever is signed in may do it: what only makes less possible, or lets nobody in. */
  readonly needsNoProof?: boolean;
  /** Fields that never wait in a page while somebody signs in again: passwords and codes. */
  readonly secrets?: readonly string[];
  /** Fields of ours that were made for the session before, as they wait for the next one. */
  carry?(sent: Submission): Readonly<Record<string, string>>;
}

/**
 * Every POST of an account page comes through here.
 * @param path where a browser comes back to that has to sign in first
 * @returns undefined when the answer has been sent. @throws OAuthError 403 for another site's
 */
export function accountSubmission(
  deps: AccountDeps,
  visit: Visit,
  path: string,
  form: AccountForm,
): Promise<Submission | undefined> {
  const { secrets = [] } = form;
  const proof = {
    frame: ({ user }: Submission["signedIn"]) => accountFrame(visit, user, undefined),
    signInUri: accountPath(visit.organisation, CONFIRM_IDENTITY),
    secrets,
    carry: (sent: Submission) => form.carry?.(sent) ?? {},
  };
  return received(deps, visit, {
    comesIn: async () => {
      const signedIn = await comesToChange(deps, visit, path, form);
      return signedIn && (await isOpenTo(signedIn, form)) ? signedIn : undefined;
    },
    again: (sent, failure) => form.again(sent, failure),
    ...(form.needsNoProof === true ? {} : { proof }),
  });
}

/** Where somebody signs in again beside a form that waits. */
export const CONFIRM_IDENTITY = "confirm-identity";
