/** Completes a sign-in with its second factor: consuming the proof and starting the session are one transaction. */
import { recordAuditEvent } from "../../../../core/audit/audit.store.ts";
import {
  FEDERATED,
  holdUpstreamSignIn,
} from "../../../../core/connections/sign-in/upstream-sign-ins.store.ts";
import { consumeOnce } from "../../../../core/consumed-values.store.ts";
import { type FactorProof, raiseAssurance } from "../../../../core/second-factors/second-factor.ts";
import {
  TRUSTED_BROWSER_MS,
  trustBrowser,
} from "../../../../core/second-factors/trusted-browsers/trusted-browsers.store.ts";
import type { SignedIn } from "../../../../core/sessions/session.ts";
import type { StartedSession } from "../../../../core/sessions/sessions.ts";
import { lockIfPasswordUnchanged, setEmailVerified } from "../../../../core/users/account.store.ts";
import type { Db } from "../../../../db/open.ts";
import { copyScript } from "../../../../html/scripts.ts";
import {
  type BrowserDeps,
  continueFlow,
  flowPath,
  pageFrame,
  requestOrigin,
  show,
  type Visit,
} from "../browser.ts";
import { recoveryCodesPage } from "../factors/enrolment.page.ts";
import { type PageRequest, signInDestination } from "../page-request.ts";
import type { AuthorizationRequest } from "../request/authorization-request.ts";
import { deviceOfBrowser } from "./browser-device.ts";
import type { PendingSignIn } from "./pending-sign-in.ts";
import { type BrowserSignIn, finishSignIn, startBrowserSession } from "./start-session.ts";

export interface VerifiedSignIn {
  readonly pending: PendingSignIn;
  readonly request: AuthorizationRequest | PageRequest;
  readonly signedIn: SignedIn;
  readonly before: SignedIn | undefined;
  readonly remember?: boolean | undefined;
}

/** Of a sign-in whose first factor was an email to the account's address: with the account's own factor it proves the address. */
const EMAIL = "email";

/** The pending sign-in was completed before, or its session has ended. */
class PendingSignInEnded extends Error {}

interface Completed {
  readonly started: StartedSession;
  readonly trustedBrowserToken: string | undefined;
  readonly recoveryCodes: readonly string[];
}

/** @returns `completed` when the response has been sent; `proof-used` when another request used the proof first */
export async function completeSignIn(
  deps: BrowserDeps,
  visit: Visit,
  signIn: VerifiedSignIn,
  proof: FactorProof,
): Promise<"completed" | "proof-used" | "ended"> {
  let completed: Completed | undefined;
  const verified = { ...signIn, deviceId: await deviceOfBrowser(deps, visit) };
  try {
    completed = await deps.database.transaction((tx) => completeIn(deps, tx, visit, verified, proof));
  } catch (error) {
    if (error instanceof PendingSignInEnded) return "ended";
    throw error;
  }
  if (!completed) return "proof-used";
  const { started, trustedBrowserToken, recoveryCodes } = completed;
  finishSignIn(deps, visit, started);
  const { id: orgId } = visit.organisation;
  if (trustedBrowserToken !== undefined)
    deps.secondFactors.trustedBrowsers.write(
      visit.reply,
      orgId,
      trustedBrowserToken,
      TRUSTED_BROWSER_MS / 1000,
    );
  if (recoveryCodes.length === 0) await continueFlow(deps, visit, signIn.pending.flow);
  else await showRecoveryCodes(deps, visit, signIn, recoveryCodes);
  return "completed";
}

async function completeIn(
  deps: BrowserDeps,
  tx: Db,
  visit: Visit,
  {
    pending,
    request,
    signedIn: { user },
    before,
    remember,
    deviceId,
  }: VerifiedSignIn & Pick<BrowserSignIn, "deviceId">,
  proof: FactorProof,
): Promise<Completed | undefined> {
  const { organisation } = visit;
  const now = deps.clock();
  const origin = requestOrigin(visit, request.uiLocales);
  // The password is checked again under lock. The account is locked before its factors, as everywhere, so that two
  // transactions never deadlock.
  if (pending.sessionId === null && !(await lockIfPasswordUnchanged(tx, user, pending.passwordChangedAt)))
    throw new PendingSignInEnded();
  const isUpstream = pending.sessionId === null && pending.amr.includes(FEDERATED);
  const upstream = { orgId: organisation.id, userId: user.id, signedInAt: pending.authTime };
  if (isUpstream && !(await holdUpstreamSignIn(tx, upstream))) throw new PendingSignInEnded();
  const recoveryCodes = await proof.use(tx);
  if (!recoveryCodes) return undefined;
  const use = { orgId: organisation.id, kind: "pending-sign-in", value: pending.id };
  if (!(await consumeOnce(tx, { ...use, expiresAt: pending.expiresAt }))) throw new PendingSignInEnded();
  const { address } = origin;
  const actor = `user:${user.id}`;
  const applicationId = request.application?.id;
  const event = { orgId: organisation.id, at: now, actor, target: user.id, address, applicationId };
  if (proof.method === "recovery") await recordAuditEvent(tx, { ...event, action: "recovery-code.used" });
  if (pending.amr.includes(EMAIL) && user.homeOrgId === organisation.id) {
    const account = { orgId: user.homeOrgId, id: user.id, email: user.email };
    if (await setEmailVerified(tx, account, now))
      await recordAuditEvent(tx, { ...event, action: "email.verified" });
  }
  const { authTime } = pending;
  const signIn = { user, ...raiseAssurance(pending, proof), authTime, request, before, deviceId };
  const started = await startBrowserSession(deps, tx, visit, signIn);
  // A sign-out in another tab ends the step-up.
  if (pending.sessionId !== null && started.session.id !== pending.sessionId) throw new PendingSignInEnded();
  const trustedBrowserToken = remember ? await trustBrowser(tx, user, { ...origin, now }) : undefined;
  if (remember) await recordAuditEvent(tx, { ...event, action: "remembered-device.added" });
  return { started, trustedBrowserToken, recoveryCodes };
}

async function showRecoveryCodes(
  deps: BrowserDeps,
  visit: Visit,
  { pending, request, signedIn }: VerifiedSignIn,
  codes: readonly string[],
): Promise<void> {
  const frame = pageFrame(visit, request.uiLocales, signedIn.user);
  const destination = signInDestination(request, visit.organisation, frame.messages);
  const continueUri = flowPath(deps, visit, "authorize", pending.flow);
  const { application, redirectsElsewhere } = destination;
  const page = recoveryCodesPage({ ...frame, application, codes, continueUri, script: copyScript.path });
  return show(visit, frame, page, { redirectsElsewhere });
}
