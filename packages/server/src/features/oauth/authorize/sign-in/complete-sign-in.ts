/** The end of a sign-in with a second factor: the proof is used up and the session starts in one transaction, or neither. */

import { recordAuditEvent } from "../../../../core/audit/audit.store.ts";
import { consumeOnce } from "../../../../core/consumed-values.store.ts";
import { type FactorProof, raised } from "../../../../core/second-factors/factor-proof.ts";
import {
  REMEMBERED_DEVICE_MS,
  rememberDevice,
} from "../../../../core/second-factors/trusted-browsers/trusted-browsers.ts";
import type { SignedIn } from "../../../../core/sessions/session.ts";
import { signInWithin } from "../../../../core/sessions/sessions.ts";
import { holdPassword } from "../../../../core/users/users.store.ts";
import type { Db } from "../../../../db/open.ts";
import { copyScript } from "../../../../html/scripts.ts";
import {
  type BrowserDeps,
  orgPath,
  originOf,
  pageFrame,
  pageOrganisation,
  show,
  type Visit,
} from "../browser.ts";
import { recoveryCodesPage } from "../factors/enrolment.page.ts";
import { destinationOf, type PageRequest } from "../page-request.ts";
import type { AuthorizationRequest } from "../request/authorization-request.ts";
import { goOn } from "../take-step.ts";
import { noticeSignIn } from "./notice-sign-in.ts";
import type { PendingSignIn } from "./pending-sign-in.ts";

export interface WaitingSignIn {
  readonly pending: PendingSignIn;
  readonly request: AuthorizationRequest | PageRequest;
  /** The sign-in as far as it is proven. */
  readonly signedIn: SignedIn;
  /** Who this browser was signed in as until now. */
  readonly before: SignedIn | undefined;
  readonly remember?: boolean | undefined;
}

/** The pending sign-in was completed before, or its session has ended meanwhile. */
class PendingIsOver extends Error {}

interface Completed {
  readonly token: string;
  readonly deviceToken: string | undefined;
  readonly recoveryCodes: readonly string[];
}

/** @returns undefined when the answer has been sent; `wrong` when another request used the proof first */
export async function completeSignIn(
  deps: BrowserDeps,
  visit: Visit,
  waiting: WaitingSignIn,
  proof: FactorProof,
): Promise<"wrong" | "over" | undefined> {
  let completed: Completed | undefined;
  try {
    completed = await deps.database.transaction((tx) => completeWithin(deps, tx, visit, waiting, proof));
  } catch (error) {
    if (error instanceof PendingIsOver) return "over";
    throw error;
  }
  if (!completed) return "wrong";
  await proof.accepted();
  const { id: orgId, settings } = visit.organisation;
  deps.activity.count(orgId, "sign-ins");
  deps.cookies.write(visit.reply, orgId, completed.token, settings.sessionLifetimeSeconds);
  if (completed.deviceToken !== undefined) {
    const { devices } = deps.secondFactors;
    devices.write(visit.reply, orgId, completed.deviceToken, REMEMBERED_DEVICE_MS / 1000);
  }
  if (completed.recoveryCodes.length === 0) await goOn(deps, visit, waiting.pending.flow);
  else await showRecoveryCodes(deps, visit, waiting, completed.recoveryCodes);
  return undefined;
}

async function completeWithin(
  deps: BrowserDeps,
  tx: Db,
  visit: Visit,
  { pending, request, signedIn, before, remember }: WaitingSignIn,
  proof: FactorProof,
): Promise<Completed | undefined> {
  const { organisation } = visit;
  const now = deps.clock();
  const { user } = signedIn;
  const from = originOf(visit, request.uiLocales);
  // The password again, now that nobody can change it meanwhile: what it began must not outlive it. The account before its
  // factors, as every change of them does it: two at once wait for each other in one direction.
  if (pending.sessionId === null && !(await holdPassword(tx, user, pending.passwordChangedAt)))
    throw new PendingIsOver();
  const recoveryCodes = await proof.use(tx);
  if (!recoveryCodes) return undefined;
  const once = { orgId: organisation.id, kind: "pending-sign-in", value: pending.id };
  if (!(await consumeOnce(tx, { ...once, expiresAt: pending.expiresAt }))) throw new PendingIsOver();
  const note = (action: "recovery-code.used" | "remembered-device.added") => {
    const { address } = from;
    const event = { orgId: organisation.id, at: now, actor: `user:${user.id}`, target: user.id, address };
    return recordAuditEvent(tx, { ...event, action });
  };
  if (proof.method === "recovery") await note("recovery-code.used");
  await noticeSignIn(deps, tx, visit, user, from);
  const { session, token } = await signInWithin(
    tx,
    {
      organisation,
      user,
      ...raised(pending, proof),
      ...from,
      before,
      authTime: pending.authTime,
    },
    now,
  );
  // Signed out in another tab just now: a session that has ended is not raised from the dead.
  if (pending.sessionId !== null && session.id !== pending.sessionId) throw new PendingIsOver();
  const deviceToken = remember ? await rememberDevice(tx, user, { ...from, now }) : undefined;
  if (deviceToken !== undefined) await note("remembered-device.added");
  return { token, deviceToken, recoveryCodes };
}

async function showRecoveryCodes(
  deps: BrowserDeps,
  visit: Visit,
  { pending, request, signedIn }: WaitingSignIn,
  codes: readonly string[],
): Promise<void> {
  const frame = pageFrame(visit, request.uiLocales, signedIn.user);
  const { application } = destinationOf(request, visit.organisation, frame.messages);
  const page = recoveryCodesPage({
    ...frame,
    organisation: pageOrganisation(visit.organisation),
    application,
    codes,
    continueUri: `${orgPath(visit.organisation, "authorize")}?flow=${deps.flows.seal(pending.flow)}`,
    script: copyScript.path,
  });
  return show(visit, frame, page);
}
