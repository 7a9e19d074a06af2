/** For users who have lost every second factor: a question, then a request to the administrators. */
import { requestFactorReset } from "../../../../core/second-factors/lost-factors/lost-factors.ts";
import { type BrowserDeps, flowPath, requestOrigin, show, type Visit } from "../browser.ts";
import { withAnotherAccount } from "../flow.ts";
import { flowPage } from "../page-request.ts";
import type { FactorStepState } from "./factor-step.ts";
import { lostFactorsPage, resetRequestedPage } from "./lost-factors.page.ts";

/** The name of the button, and of the field that confirms it. */
export const LOST_FIELD = "lost";
export const CONFIRMED = "request";

export async function showLostFactors(
  deps: BrowserDeps,
  visit: Visit,
  state: FactorStepState,
  isConfirmed: boolean,
): Promise<void> {
  const { user } = state.step.signedIn;
  const { page: shared, redirectsElsewhere } = flowPage(deps, visit, state, user, "twofactor");
  if (!isConfirmed) {
    const page = lostFactorsPage({ ...shared, pending: state.pending, user: { email: user.email } });
    return show(visit, shared, page, { redirectsElsewhere });
  }
  // Asked again, the page is the same: the administrators are told once a day.
  await requestFactorReset(deps, user, requestOrigin(visit, state.request.uiLocales));
  const againUri = flowPath(
    deps,
    visit,
    "authorize",
    withAnotherAccount(state.flow, state.request.prompts, deps.clock()),
  );
  return show(visit, shared, resetRequestedPage({ ...shared, againUri }), { redirectsElsewhere });
}
