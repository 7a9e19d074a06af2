/**
 * POST twofactor: completes a pending sign-in, or raises a session, with a second factor. Wrong
 * codes count; a proof is consumed together with the sign-in that it completes.
 */

import type { FastifyInstance } from "fastify";
import { countFailedSignIn } from "../../../../core/activity/kinds.ts";
import { recordUnauthenticatedEvent } from "../../../../core/audit/unauthenticated-events.ts";
import { rateLimitHeaders } from "../../../../core/rate-limits/rate-limits.ts";
import type { SignedIn } from "../../../../core/sessions/session.ts";
import { findPasswordChangedAt } from "../../../../core/users/account.store.ts";
import { findUser } from "../../../../core/users/users.store.ts";
import { type PageForm, parsedForm } from "../../../../http/form-body.ts";
import { addressOf } from "../../../../http/listeners/client-address.ts";
import { countMailRequest } from "../../recovery/link-mail.ts";
import {
  type BrowserDeps,
  browserRoute,
  currentSession,
  hasValidCsrfToken,
  openFlow,
  pageFormOptions,
  type Visit,
} from "../browser.ts";
import { factorStep } from "../next-step.ts";
import { completeSignIn } from "../sign-in/complete-sign-in.ts";
import { openPending, type PendingSignIn } from "../sign-in/pending-sign-in.ts";
import { showLogin } from "../sign-in/show-login.ts";
import { browserFactorStatus } from "../sign-in-context.ts";
import { type CurrentFlow, readFlow, refuse, takeStep } from "../take-step.ts";
import { checkEnrolment, checkFactor } from "./factor-check.ts";
import { type FactorStepState, offeredStep, showFactorStep } from "./factor-step.ts";
import { CONFIRMED, LOST_FIELD, showLostFactors } from "./lost-factors.ts";

export function twoFactorRoute(app: FastifyInstance, deps: BrowserDeps): void {
  app.post("/oauth/:org/twofactor", pageFormOptions, browserRoute(deps, verifySecondFactor));
}

async function verifySecondFactor(deps: BrowserDeps, visit: Visit): Promise<void> {
  const form = parsedForm(visit.request);
  const { values } = form;
  const pending = readPending(deps, visit, form);
  const flow = pending?.flow ?? openFlow(deps, visit, values.get("flow"));
  const current = await readFlow(deps, visit, flow);
  if (!current) return;
  const { request } = current;
  const signIn = pending && (await loadSignIn(deps, visit, pending));
  if (!pending || !signIn) return startOver(deps, visit, current);
  const { signedIn, before } = signIn;
  const factors = await browserFactorStatus(deps, visit, request, signedIn.user);
  const isOffer = current.step.kind === "passkey-offer" && pending.sessionId !== null;
  const step = isOffer
    ? offeredStep(signedIn)
    : factorStep({ request, now: deps.clock(), factors }, signedIn);
  if (step?.kind === "refuse") return refuse(deps, visit, current, step.error);
  // No factor is due any more, or the sign-in is too old to enrol one.
  if (step?.kind !== "second-factor" && step?.kind !== "enrolment") return startOver(deps, visit, current);

  // A step-up doesn't offer to trust the browser: its sign-in did.
  const offersTrust = step.kind === "second-factor" && pending.sessionId === null;
  const state: FactorStepState = {
    flow,
    request,
    step,
    pending: values.get("pending") ?? "",
    method: values.get("show") ?? values.get("method"),
    enrolment: values.get("enrolment"),
    isOffer,
    ...(offersTrust ? { remember: values.get("remember") === "yes" } : {}),
  };
  if (values.has("show")) return showFactorStep(deps, visit, state);
  if (values.has(LOST_FIELD) && step.kind === "second-factor")
    return requestReset(deps, visit, state, values.get(LOST_FIELD) === CONFIRMED);
  const check =
    step.kind === "enrolment"
      ? await checkEnrolment(deps, visit, state, values)
      : await checkFactor(deps, visit, state, factors, values);
  if (check.kind === "rate-limited") {
    const { retryAfterSeconds } = check.limit;
    visit.reply.headers(rateLimitHeaders(check.limit));
    return showFactorStep(deps, visit, { ...state, error: "rate-limited", status: 429, retryAfterSeconds });
  }
  if (check.kind === "wrong") return showWrong(deps, visit, state);
  const verified = { pending, request, signedIn, before, remember: state.remember };
  const outcome = await completeSignIn(deps, visit, verified, check.proof);
  if (outcome === "ended") return startOver(deps, visit, current);
  if (outcome === "proof-used") return showWrong(deps, visit, state);
}

/** Limited as emails to a mailbox are: for the account, and for the network. */
async function requestReset(
  deps: BrowserDeps,
  visit: Visit,
  state: FactorStepState,
  isConfirmed: boolean,
): Promise<void> {
  const { id } = state.step.signedIn.user;
  const limited = isConfirmed ? await countMailRequest(deps, visit, `factors|${id}`) : undefined;
  if (limited)
    return showFactorStep(deps, visit, { ...state, error: "rate-limited", status: 429, ...limited });
  return showLostFactors(deps, visit, state, isConfirmed);
}

async function showWrong(deps: BrowserDeps, visit: Visit, state: FactorStepState): Promise<void> {
  const { kind, signedIn } = state.step;
  const applicationId = state.request.application?.id;
  const { id: userId } = signedIn.user;
  countFailedSignIn(deps.activity.count, visit.organisation.id, "second-factor");
  await recordUnauthenticatedEvent(deps, {
    orgId: visit.organisation.id,
    actor: `user:${userId}`,
    action: "second-factor.failed",
    target: userId,
    address: addressOf(visit.request),
    applicationId,
    details: { reason: kind === "enrolment" ? "enrolment not verified" : "wrong code or passkey" },
  });
  return showFactorStep(deps, visit, { ...state, error: "wrong", status: 401 });
}

/** Undefined unless it is this browser's, in a form of this server. */
function readPending(deps: BrowserDeps, visit: Visit, form: PageForm): PendingSignIn | undefined {
  const orgId = visit.organisation.id;
  const browser = deps.cookies.read(visit.request, orgId);
  if (browser === undefined || !hasValidCsrfToken(deps, visit, form)) return undefined;
  const binding = { orgId, browser, now: deps.clock() };
  return openPending(deps.secondFactors.seals, form.values.get("pending"), binding);
}

/** Undefined when it has ended: the account was disabled, the password changed, or the user signed out. */
async function loadSignIn(
  deps: BrowserDeps,
  visit: Visit,
  pending: PendingSignIn,
): Promise<{ signedIn: SignedIn; before: SignedIn | undefined } | undefined> {
  const orgId = visit.organisation.id;
  const user = await findUser(deps.database.query, orgId, pending.userId);
  if (!user || user.disabledAt !== null) return undefined;
  const before = await currentSession(deps, visit);
  if (pending.sessionId !== null) {
    const isSameSession = before?.session.id === pending.sessionId && before.user.id === user.id;
    return isSameSession ? { signedIn: before, before } : undefined;
  }
  if ((await findPasswordChangedAt(deps.database.query, user)) !== pending.passwordChangedAt)
    return undefined;
  const { authTime, amr, acr, expiresAt } = pending;
  const times = { authTime, createdAt: authTime, lastSeenAt: authTime, expiresAt };
  return { signedIn: { session: { orgId, id: "", userId: user.id, amr, acr, ...times }, user }, before };
}

function startOver(deps: BrowserDeps, visit: Visit, current: CurrentFlow): Promise<void> {
  const { flow, request, step } = current;
  if (step.kind !== "login") return takeStep(deps, visit, current);
  return showLogin(deps, visit, { flow, request, error: "session-expired", status: 403 });
}
