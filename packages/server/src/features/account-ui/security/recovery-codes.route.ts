/** account/security/recovery-codes: ten new ones take the place of those that are there. */

import type { FastifyInstance } from "fastify";
import { renewRecoveryCodes } from "../../../core/second-factors/changes.ts";
import { ownerOf } from "../../../core/second-factors/factor-status.ts";
import { hasSecondFactor } from "../../../core/second-factors/second-factor.ts";
import { findFactorSummary } from "../../../core/second-factors/second-factors.store.ts";
import type { SignedIn } from "../../../core/sessions/session.ts";
import { goodOnce, newOnce, notTaken, type Refusal } from "../../../page-kit/made-once.ts";
import type { Submission } from "../../../page-kit/sent-form.ts";
import { goTo, show, type Visit } from "../../../page-kit/visit.ts";
import { accountSubmission } from "../account-form.ts";
import {
  type AccountDeps,
  accountPath,
  accountRoute,
  type Change,
  changeOf,
  mayChange,
} from "../account-page.ts";
import { confirmPage } from "../change.page.ts";
import { changeFrame, changePath, finish, notTakenTexts } from "../change.ts";

const CODES = "recovery-codes";

export function recoveryCodesRoute(app: FastifyInstance, deps: AccountDeps): void {
  accountRoute(app, deps, `security/${CODES}`, {
    get: async (visit) => {
      const signedIn = await mayChange(deps, visit, changePath(visit, CODES), renewable(deps, visit));
      if (signedIn) await ask(deps, visit, signedIn);
    },
    post: async (visit) => {
      const sent = await accountSubmission(deps, visit, changePath(visit, CODES), {
        ...renewable(deps, visit),
        again: ({ signedIn }, why = "expired") => ask(deps, visit, signedIn, notTaken(why)),
      });
      // Of two presses at once, the codes of the answer that is shown could be those that the other one has ended.
      const again = ({ signedIn }: Submission, refusal: Refusal) => ask(deps, visit, signedIn, refusal);
      const making = sent && (await goodOnce(deps, visit, sent, again, () => ({})));
      if (!making) return;
      const change = changeOf(visit, making.signedIn);
      const renewed = await making.once(async (database) => ({
        codes: await renewRecoveryCodes({ ...deps, database }, change),
      }));
      if (renewed?.codes) await finish(visit, making.signedIn, renewed.codes, "codesMade");
      else if (renewed) await goTo(visit, accountPath(visit.organisation, "security"));
    },
  });
}

/** They stand in for a factor: without one there is nothing to recover. */
const renewable = (deps: AccountDeps, visit: Visit): Change => ({
  isOpen: async ({ user }) => {
    if (hasSecondFactor(await findFactorSummary(deps.database.query, ownerOf(user)))) return true;
    await goTo(visit, accountPath(visit.organisation, "security"));
    return false;
  },
});

async function ask(deps: AccountDeps, visit: Visit, signedIn: SignedIn, refusal?: Refusal): Promise<void> {
  const frame = changeFrame(deps, visit, signedIn, CODES);
  const text = frame.messages.security.recovery;
  const { sentBefore } = frame.messages.console.frame;
  const wasSent = { title: sentBefore.title, text: sentBefore.secret.recoveryCodes };
  const texts: Partial<Record<Refusal["failure"]["kind"], typeof wasSent>> = {
    ...notTakenTexts(frame),
    sent: wasSent,
  };
  const page = confirmPage({
    ...frame,
    heading: text.renewHeading,
    text: text.renewText,
    confirm: text.renew,
    isHarmless: true,
    once: newOnce(deps),
    failure: refusal && texts[refusal.failure.kind],
  });
  return show(visit, frame, page, refusal?.status ?? 200);
}
