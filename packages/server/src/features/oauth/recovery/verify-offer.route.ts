/** GET and POST verify-email: a sign-in that waits for a verified address, and the email with the link. */
import type { Form } from "@signet/protocol/form";
import type { FastifyInstance } from "fastify";
import type { User } from "../../../core/users/user.ts";
import { parsedForm, parseQuery } from "../../../http/form-body.ts";
import {
  type BrowserDeps,
  browserRoute,
  flowPath,
  hasValidCsrfToken,
  orgPath,
  pageFormOptions,
  show,
  type Visit,
} from "../authorize/browser.ts";
import { readSealedFlow, takeStep } from "../authorize/take-step.ts";
import { countMailRequest } from "./count-mail-request.ts";
import { sendVerifyMail } from "./link-mail.ts";
import { noMailPage } from "./recovery.page.ts";
import { formFields, loadRecoveryContext, type RecoveryContext, restartFlow } from "./recovery-context.ts";
import { type VerifyOfferView, verifyOfferPage, verifySentPage } from "./verify-email.page.ts";

export function verifyOfferRoutes(app: FastifyInstance, deps: BrowserDeps): void {
  app.get("/oauth/:org/verify-email", browserRoute(deps, offerVerification));
  app.post("/oauth/:org/verify-email", pageFormOptions, browserRoute(deps, requestVerification));
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
