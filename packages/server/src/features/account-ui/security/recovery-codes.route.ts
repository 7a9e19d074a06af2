/** account/security/recovery-codes: replaces the recovery codes with ten new ones. */

import type { FastifyInstance } from "fastify";
import { renewRecoveryCodes } from "../../../core/second-factors/changes.ts";
import { factorOwner } from "../../../core/second-factors/factor-status.ts";
import { hasSecondFactor } from "../../../core/second-factors/second-factor.ts";
import { findFactorSummary } from "../../../core/second-factors/second-factors.store.ts";
import {
  type AcceptedForm,
  applyOnce,
  newSubmissionToken,
  type Refusal,
  requireFreshNonce,
} from "../../../page-kit/accept-form.ts";
import { redirectTo, show } from "../../../page-kit/page.ts";
import { accountRoute } from "../account-form.ts";
import { type AccountDeps, type AccountVisit, accountPath, factorChange, refusal } from "../account-page.ts";
import { confirmPage } from "../change.page.ts";
import { changeFrame, finishChange } from "../change.ts";

export function recoveryCodesRoute(app: FastifyInstance, deps: AccountDeps): void {
  accountRoute(app, deps, "/oauth/:org/account/security/recovery-codes", {
    // Without a second factor there is nothing to recover.
    redirectIfUnavailable: async ({ database }, { user, organisation }) => {
      const summary = await findFactorSummary(database.query, factorOwner(user));
      return hasSecondFactor(summary) ? undefined : accountPath(organisation, "security");
    },
    show: (_, visit, rejected) => askToConfirm(deps, visit, rejected?.refusal),
    submit: renew,
  });
}

async function renew(deps: AccountDeps, visit: AccountVisit, accepted: AcceptedForm): Promise<void> {
  // A duplicate submission would replace the codes the user was just shown.
  const form = requireFreshNonce(deps, visit, accepted);
  if (form.outcome === "rejected") return askToConfirm(deps, visit, form.refusal);
  const codes = await applyOnce(deps, form, (inside) => renewRecoveryCodes(inside, factorChange(visit)));
  if (codes === "duplicate-submission") {
    const { sentBefore } = visit.messages.console.frame;
    return askToConfirm(deps, visit, refusal(409, sentBefore.title, sentBefore.secret.recoveryCodes));
  }
  if (codes) return finishChange(visit, codes, "codesMade");
  await redirectTo(visit, accountPath(visit.organisation, "security"));
}

async function askToConfirm(deps: AccountDeps, visit: AccountVisit, again?: Refusal): Promise<void> {
  const frame = changeFrame(deps, visit);
  const text = frame.messages.security.recovery;
  const page = confirmPage({
    ...frame,
    heading: text.renewHeading,
    text: text.renewText,
    confirm: text.renew,
    isHarmless: true,
    once: newSubmissionToken(deps),
    failure: again?.failure,
  });
  return show(visit, frame, page, again?.status);
}
