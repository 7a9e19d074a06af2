/** What follows a right password, or a proven address: the session, or the second factor that is due before it. */
import { recordTrustedBrowserUse } from "../../../../core/second-factors/trusted-browsers/trusted-browsers.store.ts";
import { acrValues, type Session } from "../../../../core/sessions/session.ts";
import { lockIfPasswordUnchanged } from "../../../../core/users/account.store.ts";
import type { RightPassword } from "../../../../core/users/check-password.ts";
import { type BrowserDeps, continueFlow, currentSession, type Visit } from "../browser.ts";
import { showSecondFactor } from "../factors/factor-step.ts";
import { factorStep } from "../next-step.ts";
import { browserFactorStatus } from "../sign-in-context.ts";
import { type CurrentFlow, refuse, takeStep } from "../take-step.ts";
import { deviceOfBrowser } from "./browser-device.ts";
import { finishSignIn, startBrowserSession } from "./start-session.ts";

/** Starts the session, unless a second factor is due first. Sends the response. */
export const continueWithPassword = (
  deps: BrowserDeps,
  visit: Visit,
  current: CurrentFlow,
  right: RightPassword,
): Promise<void> => continueWithProof(deps, visit, current, { ...right, amr: ["pwd"] });

/** The same after a code or link that was sent to the account's address: one factor, as a password is. */
export const continueWithEmail = (
  deps: BrowserDeps,
  visit: Visit,
  current: CurrentFlow,
  account: RightPassword,
): Promise<void> => continueWithProof(deps, visit, current, { ...account, amr: ["email"] });

type FirstFactor = RightPassword & { readonly amr: readonly string[] };

async function continueWithProof(
  deps: BrowserDeps,
  visit: Visit,
  current: CurrentFlow,
  proof: FirstFactor,
): Promise<void> {
  const { flow, request } = current;
  const { user, passwordChangedAt } = proof;
  const now = deps.clock();
  const factors = await browserFactorStatus(deps, visit, request, user);
  const signedIn = { session: firstSession(proof, now), user };
  const step = factorStep({ request, now, factors }, signedIn);
  if (step?.kind === "refuse") return refuse(deps, visit, current, step.error);
  if (step?.kind === "second-factor" || step?.kind === "enrolment")
    return showSecondFactor(deps, visit, { flow, request, step }, passwordChangedAt);
  if (!(await startFirstSession(deps, visit, current, proof))) return takeStep(deps, visit, current);
  const token = deps.secondFactors.trustedBrowsers.read(visit.request, visit.organisation.id);
  if (factors.isTrusted && token !== undefined)
    await recordTrustedBrowserUse(deps.database.query, user, token, now);
  return continueFlow(deps, visit, flow);
}

/** @returns false when the password was changed meanwhile */
async function startFirstSession(
  deps: BrowserDeps,
  visit: Visit,
  { request }: CurrentFlow,
  { user, passwordChangedAt, amr }: FirstFactor,
): Promise<boolean> {
  const before = await currentSession(deps, visit);
  const deviceId = await deviceOfBrowser(deps, visit);
  const started = await deps.database.transaction(async (tx) => {
    if (!(await lockIfPasswordUnchanged(tx, user, passwordChangedAt))) return undefined;
    return startBrowserSession(deps, tx, visit, { user, amr, acr: ACR, request, before, deviceId });
  });
  if (started) finishSignIn(deps, visit, started);
  return started !== undefined;
}

const ACR = acrValues.password;

/** The session that the first factor alone would start, for the decision about the next step. */
function firstSession({ user: { id: userId, orgId }, amr }: FirstFactor, now: number): Session {
  const times = { authTime: now, createdAt: now, lastSeenAt: now, expiresAt: now };
  return { orgId, id: "", userId, amr, acr: ACR, ...times };
}
