/** account/security/recovery-codes: replaces the recovery codes with ten new ones. */

import type { FastifyInstance } from "fastify";
import { renewRecoveryCodes } from "../../../core/second-factors/changes.ts";
import { factorOwner } from "../../../core/second-factors/factor-status.ts";
import { hasSecondFactor } from "../../../core/second-factors/second-factor.ts";
import { findFactorSummary } from "../../../core/second-factors/second-factors.store.ts";
import type { SignedIn } from "../../../core/sessions/session.ts";
import type { FormFailure } from "../../../html/components/record-form.ts";
import {
  applyOnce,
  duplicateSubmission,
  newSubmissionToken,
  type Refusal,
  requireFreshNonce,
} from "../../../page-kit/accept-form.ts";
import { redirectTo, show, type Visit } from "../../../page-kit/page.ts";
import { acceptAccountForm, askForIdentity } from "../account-form.ts";
import {
  type AccountDeps,
  accountPath,
  accountRoute,
  type ChangePolicy,
  factorChange,
  requireRecentSignIn,
} from "../account-page.ts";
import { confirmPage } from "../change.page.ts";
import { changeFrame, changePath, finishChange, rejectionTexts } from "../change.ts";

const CODES = "recovery-codes";

export function recoveryCodesRoute(app: FastifyInstance, deps: AccountDeps): void {
  accountRoute(app, deps, "/oauth/:org/account/security/recovery-codes", {
    get: async (visit) => {
      const signedIn = await requireRecentSignIn(
        deps,
        visit,
        changePath(visit, CODES),
        renewalPolicy(deps, visit),
      );
      await askToConfirm(deps, visit, signedIn);
    },
    post: (visit) => renew(deps, visit),
  });
}

async function renew(deps: AccountDeps, visit: Visit): Promise<void> {
  const accepted = await acceptAccountForm(deps, visit, changePath(visit, CODES), renewalPolicy(deps, visit));
  // A duplicate submission would replace the codes the user was just shown.
  const form = requireFreshNonce(deps, visit, accepted);
  if (form.outcome === "reauthenticate") return askForIdentity(deps, visit, form);
  const { signedIn } = form;
  if (form.outcome === "rejected") return askToConfirm(deps, visit, signedIn, form.refusal);
  const codes = await applyOnce(deps, form, (inside) =>
    renewRecoveryCodes(inside, factorChange(visit, signedIn)),
  );
  if (codes === "duplicate-submission") return askToConfirm(deps, visit, signedIn, duplicateSubmission());
  if (codes) return finishChange(visit, signedIn, codes, "codesMade");
  await redirectTo(visit, accountPath(visit.organisation, "security"));
}

/** Unavailable without a second factor: there is nothing to recover. */
const renewalPolicy = (deps: AccountDeps, visit: Visit): ChangePolicy => ({
  redirectIfUnavailable: async ({ user }) => {
    const summary = await findFactorSummary(deps.database.query, factorOwner(user));
    return hasSecondFactor(summary) ? undefined : accountPath(visit.organisation, "security");
  },
});

async function askToConfirm(
  deps: AccountDeps,
  visit: Visit,
  signedIn: SignedIn,
  refusal?: Refusal,
): Promise<void> {
  const frame = changeFrame(deps, visit, signedIn, CODES);
  const text = frame.messages.security.recovery;
  const { sentBefore } = frame.messages.console.frame;
  const wasSent = { title: sentBefore.title, text: sentBefore.secret.recoveryCodes };
  const texts: Partial<Record<FormFailure["kind"], typeof wasSent>> = {
    ...rejectionTexts(frame),
    sent: wasSent,
  };
  const page = confirmPage({
    ...frame,
    heading: text.renewHeading,
    text: text.renewText,
    confirm: text.renew,
    isHarmless: true,
    once: newSubmissionToken(deps),
    failure: refusal?.failure && texts[refusal.failure.kind],
  });
  return show(visit, frame, page, refusal?.status ?? 200);
}
