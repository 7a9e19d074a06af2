/** What follows a sign-in at an identity provider: the session, or the second factor that is due before it. */
import { ConnectionSignInFailure } from "../../../../core/connections/sign-in/failure.ts";
import type { Session } from "../../../../core/sessions/session.ts";
import { findPasswordChange, lockIfPasswordUnchanged } from "../../../../core/users/account.store.ts";
import type { User } from "../../../../core/users/user.ts";
import { type BrowserDeps, continueFlow, currentSession, type Visit } from "../browser.ts";
import { showSecondFactor } from "../factors/factor-step.ts";
import { factorStep } from "../next-step.ts";
import { browserFactorStatus } from "../sign-in-context.ts";
import { type CurrentFlow, refuse } from "../take-step.ts";
import { finishSignIn, startBrowserSession } from "./start-session.ts";

/** RFC 8176 has no name for it; connections.md §4. */
const AMR = ["fed"];

/** Starts the session, unless a second factor is due first. Sends the response. @throws ConnectionSignInFailure */
export async function continueWithUpstream(
  deps: BrowserDeps,
  visit: Visit,
  current: CurrentFlow,
  { user, acr }: { readonly user: User; readonly acr: string },
): Promise<void> {
  const { flow, request } = current;
  const now = deps.clock();
  const factors = await browserFactorStatus(deps, visit, request, user);
  const times = { authTime: now, createdAt: now, lastSeenAt: now, expiresAt: now };
  const session: Session = { orgId: user.orgId, id: "", userId: user.id, amr: AMR, acr, ...times };
  const step = factorStep({ request, now, factors }, { session, user });
  if (step?.kind === "refuse") return refuse(deps, visit, current, step.error);
  // Whatever ends a sign-in that waits for its factor ends this one: a new password, a disabled account.
  const passwordChangedAt = await findPasswordChange(deps.database.query, user);
  if (step?.kind === "second-factor" || step?.kind === "enrolment")
    return showSecondFactor(deps, visit, { flow, request, step }, passwordChangedAt);
  const before = await currentSession(deps, visit);
  const started = await deps.database.transaction(async (tx) => {
    if (!(await lockIfPasswordUnchanged(tx, user, passwordChangedAt))) return undefined;
    return startBrowserSession(deps, tx, visit, { user, amr: AMR, acr, request, before });
  });
  if (!started) throw new ConnectionSignInFailure("account-disabled");
  finishSignIn(deps, visit, started);
  return continueFlow(deps, visit, flow);
}
