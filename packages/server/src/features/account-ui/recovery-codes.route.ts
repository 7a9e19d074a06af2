/** account/security/recovery-codes: ten new ones take the place of those that are there. */

import type { FastifyInstance } from "fastify";
import { goTo, show, type Visit } from "../../console/visit.ts";
import { renewRecoveryCodes } from "../../core/second-factors/changes.ts";
import { hasSecondFactor } from "../../core/second-factors/second-factor.ts";
import { ownerOf } from "../../core/second-factors/standing.ts";
import { findFactorSummary } from "../../core/second-factors/store.ts";
import type { SignedIn } from "../../core/sessions/session.ts";
import { formOf } from "../../http/form-body.ts";
import { type AccountDeps, accountPath, accountRoute, changeOf, mayChange } from "./account-page.ts";
import { confirmPage } from "./change.page.ts";
import { changeFrame, changePath, expired, finish } from "./change.ts";

const CODES = "recovery-codes";

export function recoveryCodesRoute(app: FastifyInstance, deps: AccountDeps): void {
  accountRoute(app, deps, `security/${CODES}`, {
    get: async (visit) => {
      const signedIn = await mayRenew(deps, visit);
      if (signedIn) await ask(deps, visit, signedIn);
    },
    post: async (visit) => {
      const signedIn = await mayRenew(deps, visit);
      if (!signedIn) return;
      if (!deps.door.isOwnForm(visit, formOf(visit.request).values.get("csrf")))
        return ask(deps, visit, signedIn, true);
      const codes = await renewRecoveryCodes(deps, changeOf(visit, signedIn));
      if (codes) await finish(visit, signedIn, codes, "codesMade");
      else await goTo(visit, accountPath(visit.organisation, "security"));
    },
  });
}

/** They stand in for a factor: without one there is nothing to recover. */
async function mayRenew(deps: AccountDeps, visit: Visit): Promise<SignedIn | undefined> {
  const signedIn = await mayChange(deps, visit, changePath(visit, CODES));
  if (!signedIn) return undefined;
  if (hasSecondFactor(await findFactorSummary(deps.database.query, ownerOf(signedIn.user)))) return signedIn;
  await goTo(visit, accountPath(visit.organisation, "security"));
  return undefined;
}

async function ask(deps: AccountDeps, visit: Visit, signedIn: SignedIn, isExpired = false): Promise<void> {
  const frame = changeFrame(deps, visit, signedIn, CODES);
  const text = frame.messages.security.recovery;
  const page = confirmPage({
    ...frame,
    heading: text.renewHeading,
    text: text.renewText,
    confirm: text.renew,
    ...(isExpired ? { failure: expired(frame) } : {}),
  });
  return show(visit, frame, page, isExpired ? 403 : 200);
}
