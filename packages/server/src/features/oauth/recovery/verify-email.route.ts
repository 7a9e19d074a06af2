/**
 * GET and POST verify-email: a sign-in that waits for a verified address, and the email with the link. GET and POST of the
 * link: shows a button, and verifies the address once.
 */
import type { Form } from "@signet/protocol/form";
import type { FastifyInstance } from "fastify";
import { completeAction, endsWhatWasBefore } from "../../../core/actions/complete-action.ts";
import type { User } from "../../../core/users/user.ts";
import { parsedForm, parseQuery } from "../../../http/form-body.ts";
import { addressOf } from "../../../http/listeners/client-address.ts";
import {
  type BrowserDeps,
  browserRoute,
  currentSession,
  flowPath,
  hasValidCsrfToken,
  orgPath,
  pageFormOptions,
  show,
  type Visit,
} from "../authorize/browser.ts";
import { readSealedFlow, takeStep } from "../authorize/take-step.ts";
import { type OpenLink, openLink, redirectToResult, showBrokenLink, showDone } from "./link.ts";
import { countMailRequest, sendVerifyMail } from "./link-mail.ts";
import { noMailPage } from "./recovery.page.ts";
import { formFields, loadRecoveryContext, type RecoveryContext, restartFlow } from "./recovery-context.ts";
import {
  type VerifyOfferView,
  verifyEmailPage,
  verifyOfferPage,
  verifySentPage,
} from "./verify-email.page.ts";

export function verifyEmailRoutes(app: FastifyInstance, deps: BrowserDeps): void {
  app.get("/oauth/:org/verify-email", browserRoute(deps, offerVerification));
  app.post("/oauth/:org/verify-email", pageFormOptions, browserRoute(deps, requestVerification));
  app.get("/oauth/:org/verify-email/:id", browserRoute(deps, showVerifyEmail));
  app.post("/oauth/:org/verify-email/:id", pageFormOptions, browserRoute(deps, verifyEmail));
  app.get("/oauth/:org/verify-email/done", browserRoute(deps, showEmailVerified));
}

async function offerVerification(deps: BrowserDeps, visit: Visit): Promise<void> {
  const pending = await readPending(deps, visit, parseQuery(visit.request));
  if (pending) await showOffer(deps, visit, pending, {});
}

async function requestVerification(deps: BrowserDeps, visit: Visit): Promise<void> {
  const form = parsedForm(visit.request);
  const pending = await readPending(deps, visit, form);
  if (!pending) return;
  const { user, context } = pending;
  if (!hasValidCsrfToken(deps, visit, form))
    return showOffer(deps, visit, pending, { error: "session-expired", status: 403 });
  if (!deps.outbox.isOpen) return showOffer(deps, visit, pending, {});
  const limited = await countMailRequest(deps, visit, `verify|${user.id}`);
  if (limited) return showOffer(deps, visit, pending, { error: "rate-limited", status: 429, ...limited });
  await sendVerifyMail(deps, visit, user, { flow: context.flow, locale: context.messages.locale });
  return show(visit, context, verifySentPage({ ...context, email: user.email }));
}

interface Pending {
  readonly user: User;
  readonly context: RecoveryContext;
}

/** @returns undefined when the flow has another step, which has been shown */
async function readPending(deps: BrowserDeps, visit: Visit, form: Form): Promise<Pending | undefined> {
  const sealed = form.values.get("flow");
  const current = await readSealedFlow(deps, visit, sealed);
  if (current?.step.kind === "verify-email") {
    const { user } = current.step.signedIn;
    return { user, context: await loadRecoveryContext(deps, visit, sealed, user) };
  }
  if (current) await takeStep(deps, visit, current);
  return undefined;
}

async function showOffer(
  deps: BrowserDeps,
  visit: Visit,
  { user, context }: Pending,
  { status = 200, ...failure }: Pick<VerifyOfferView, "error" | "retryAfterSeconds"> & { status?: number },
): Promise<void> {
  const { flow, organisation, messages } = context;
  if (!deps.outbox.isOpen) {
    const advice = messages.verifyEmail.notSetUp({ organisation: organisation.name });
    return show(visit, context, noMailPage({ ...context, advice }));
  }
  const page = verifyOfferPage({
    ...context,
    ...failure,
    action: orgPath(visit.organisation, "verify-email"),
    hidden: formFields(deps, visit, flow),
    email: user.email,
    otherAccountUri: flowPath(deps, visit, "authorize", flow && restartFlow(flow, deps.clock())),
  });
  return show(visit, context, page, { status });
}

async function showVerifyEmail(deps: BrowserDeps, visit: Visit): Promise<void> {
  const link = await openLink(deps, visit, "VerifyEmail");
  return link ? showForm(deps, visit, link) : showBrokenLink(deps, visit, "VerifyEmail");
}

async function verifyEmail(deps: BrowserDeps, visit: Visit): Promise<void> {
  const link = await openLink(deps, visit, "VerifyEmail");
  if (!link) return showBrokenLink(deps, visit, "VerifyEmail");
  if (!hasValidCsrfToken(deps, visit, parsedForm(visit.request)))
    return showForm(deps, visit, link, { isExpired: true, status: 403 });
  const { action, named, user } = link;
  const origin = { address: addressOf(visit.request) };
  const signedIn = await currentSession(deps, visit);
  const isOwnSession = signedIn?.user.id === user.id;
  const completion = { action, id: named.id, origin, isOwnSession };
  if (!(await completeAction(deps, completion))) return showBrokenLink(deps, visit, "VerifyEmail");
  const { flow } = await loadRecoveryContext(deps, visit, action.data.flow, user);
  // The sign-in continues for the user whose address it is.
  const isAnotherUser = signedIn !== undefined && !isOwnSession;
  const onward = flow && isAnotherUser ? restartFlow(flow, deps.clock()) : flow;
  const hasEnded = endsWhatWasBefore(completion, user);
  return redirectToResult(deps, visit, "verify-email/done", { flow: onward, user, hasEnded });
}

async function showForm(
  deps: BrowserDeps,
  visit: Visit,
  { named, action, user }: OpenLink,
  { status = 200, isExpired }: { status?: number; isExpired?: boolean } = {},
): Promise<void> {
  const context = await loadRecoveryContext(deps, visit, action.data.flow, user);
  const page = verifyEmailPage({
    ...context,
    action: orgPath(visit.organisation, `verify-email/${named.id}`),
    hidden: formFields(deps, visit),
    email: user.email,
    isExpired,
    endsPassword:
      endsWhatWasBefore({ action }, user) && (await currentSession(deps, visit))?.user.id !== user.id,
  });
  return show(visit, context, page, { status });
}

const showEmailVerified = (deps: BrowserDeps, visit: Visit): Promise<void> =>
  showDone(deps, visit, "verifyEmail");
