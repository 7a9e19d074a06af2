/**
 * POST twofactor: what stands between the right password and a session, and what raises a session that is not proven
 * enough. A code is counted before it is looked at; a proof is used up together with the sign-in that it completes.
 */

import type { FastifyInstance } from "fastify";
import { recordStrangersEvent } from "../../../../core/audit/unauthenticated-events.ts";
import type { Organisation } from "../../../../core/organisations/organisation.ts";
import { rateLimitHeaders } from "../../../../core/rate-limits/rate-limit-headers.ts";
import type { RateLimited } from "../../../../core/rate-limits/rate-limits.ts";
import type { SignedIn } from "../../../../core/sessions/session.ts";
import { findPasswordChangedAt, findUser } from "../../../../core/users/users.store.ts";
import { formOf, type PageForm } from "../../../../http/form-body.ts";
import { addressOf } from "../../../../http/listeners/client-address.ts";
import { inOrganisation } from "../../../../http/organisation-lookup.ts";
import { type BrowserDeps, isOwnForm, openFlow, ownForm, type Visit, whoIsThere } from "../browser.ts";
import { factorStep } from "../next-step.ts";
import { completeSignIn } from "../sign-in/complete-sign-in.ts";
import { openPending, type PendingSignIn } from "../sign-in/pending-sign-in.ts";
import { showLogin } from "../sign-in/show-login.ts";
import { standingHere } from "../sign-in-situation.ts";
import { type ReadFlow, type ReadPageFlow, readFlow, refuse, takeStep } from "../take-step.ts";
import { checkAddedFactor, checkShownFactor } from "./factor-check.ts";
import { type FactorStepShown, showFactorStep } from "./show-factor-step.ts";

export function twoFactorRoute(app: FastifyInstance, deps: BrowserDeps): void {
  app.post(
    "/oauth/:org/twofactor",
    ownForm,
    inOrganisation<Organisation>(deps.organisations.find, async (visit) => {
      await processTwoFactor(deps, visit, formOf(visit.request));
      return visit.reply;
    }),
  );
}

async function processTwoFactor(deps: BrowserDeps, visit: Visit, form: PageForm): Promise<void> {
  const pending = readPending(deps, visit, form);
  const flow = pending?.flow ?? openFlow(deps, visit, form.values.get("flow"));
  const read = await readFlow(deps, visit, flow);
  if (!read) return;
  const waiting = pending && (await waitingSignIn(deps, visit, pending));
  if (!pending || !waiting) return startOver(deps, visit, read);
  const { signedIn, before } = waiting;
  const factors = await standingHere(deps, visit, read.request, signedIn.user);
  const step = factorStep({ request: read.request, now: deps.clock(), factors }, signedIn);
  if (step?.kind === "refuse") return refuse(deps, visit, read, step.error);
  // Nothing due any more, or too late to add a factor: from the beginning, whatever that is now.
  if (step?.kind !== "second-factor" && step?.kind !== "enrolment") return startOver(deps, visit, read);

  const { values } = form;
  // A session that is raised was started in a browser that could have been remembered then.
  const canRemember = step.kind === "second-factor" && pending.sessionId === null;
  const shown: FactorStepShown = {
    flow,
    request: read.request,
    step,
    pending: values.get("pending") ?? "",
    method: values.get("method"),
    enrolment: values.get("enrolment"),
    ...(canRemember ? { remember: values.get("remember") === "yes" } : {}),
  };
  const wished = values.get("show");
  if (wished !== undefined) return showFactorStep(deps, visit, { ...shown, method: wished });
  const check =
    step.kind === "enrolment"
      ? await checkAddedFactor(deps, visit, shown, values)
      : await checkShownFactor(deps, visit, shown, factors, values);
  if (check.kind === "rate-limited") return showRateLimited(deps, visit, shown, check.limit);
  if (check.kind === "wrong") return showWrong(deps, visit, shown);
  const done = await completeSignIn(
    deps,
    visit,
    { pending, request: read.request, signedIn, before, remember: shown.remember },
    check.proof,
  );
  if (done === "over") return startOver(deps, visit, read);
  if (done === "wrong") return showWrong(deps, visit, shown);
}

async function showWrong(deps: BrowserDeps, visit: Visit, shown: FactorStepShown): Promise<void> {
  const { user } = shown.step.signedIn;
  deps.activity.count(visit.organisation.id, "failed-sign-ins");
  await recordStrangersEvent(deps, {
    orgId: visit.organisation.id,
    actor: `user:${user.id}`,
    action: "second-factor.failed",
    target: user.id,
    address: addressOf(visit.request),
    details: {
      reason: shown.step.kind === "enrolment" ? "a new one does not work" : "wrong code or passkey",
    },
  });
  return showFactorStep(deps, visit, { ...shown, error: "wrong", status: 401 });
}

function showRateLimited(
  deps: BrowserDeps,
  visit: Visit,
  shown: FactorStepShown,
  limit: RateLimited,
): Promise<void> {
  const { retryAfterSeconds } = limit;
  visit.reply.headers(rateLimitHeaders(limit));
  return showFactorStep(deps, visit, { ...shown, error: "rate-limited", status: 429, retryAfterSeconds });
}

/** Of this browser, from a page of ours. */
function readPending(deps: BrowserDeps, visit: Visit, form: PageForm): PendingSignIn | undefined {
  const orgId = visit.organisation.id;
  const browser = deps.cookies.read(visit.request, orgId);
  if (browser === undefined || !isOwnForm(deps, visit, form)) return undefined;
  const binding = { orgId, browser, now: deps.clock() };
  return openPending(deps.secondFactors.seals, form.values.get("pending"), binding);
}

/** The sign-in that waits, unless something ended it since: the account disabled, the password changed, a sign-out. */
async function waitingSignIn(
  deps: BrowserDeps,
  visit: Visit,
  pending: PendingSignIn,
): Promise<{ signedIn: SignedIn; before: SignedIn | undefined } | undefined> {
  const orgId = visit.organisation.id;
  const user = await findUser(deps.database.query, orgId, pending.userId);
  if (!user || user.disabledAt !== null) return undefined;
  const before = await whoIsThere(deps, visit);
  if (pending.sessionId !== null) {
    return before?.session.id === pending.sessionId && before.user.id === user.id
      ? { signedIn: before, before }
      : undefined;
  }
  if ((await findPasswordChangedAt(deps.database.query, user)) !== pending.passwordChangedAt)
    return undefined;
  const { authTime, amr, acr } = pending;
  const times = { createdAt: authTime, lastSeenAt: authTime, expiresAt: pending.expiresAt };
  const session = { orgId, id: "", userId: user.id, authTime, amr, acr, ...times };
  return { signedIn: { session, user }, before };
}

function startOver(deps: BrowserDeps, visit: Visit, read: ReadFlow | ReadPageFlow): Promise<void> {
  if (read.step.kind !== "login") return takeStep(deps, visit, read);
  return showLogin(deps, visit, {
    flow: read.flow,
    request: read.request,
    error: "session-expired",
    status: 403,
  });
}
