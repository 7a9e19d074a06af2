/** GET and POST recovery: a forgotten password. Response and timing are the same for every address. */
import type { Form } from "@signet/protocol/form";
import type { FastifyInstance } from "fastify";
import { takesPasswords } from "../../../core/organisations/sign-in-methods.ts";
import { emailKey, isEmail } from "../../../core/users/user.ts";
import { parsedForm, parseQuery } from "../../../http/form-body.ts";
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
import { countMailRequest, sendResetMail } from "./link-mail.ts";
import { noMailPage, type RecoveryFailure, recoveryPage, recoverySentPage } from "./recovery.page.ts";
import { formFields, loadRecoveryContext, type RecoveryContext } from "./recovery-context.ts";

export function recoveryRoute(app: FastifyInstance, deps: BrowserDeps): void {
  app.get("/oauth/:org/recovery", browserRoute(deps, showRecovery));
  app.post("/oauth/:org/recovery", pageFormOptions, browserRoute(deps, requestRecovery));
}

async function showRecovery(deps: BrowserDeps, visit: Visit): Promise<void> {
  return showForm(deps, visit, await formContext(deps, visit, parseQuery(visit.request)), {});
}

async function requestRecovery(deps: BrowserDeps, visit: Visit): Promise<void> {
  const form = parsedForm(visit.request);
  const context = await formContext(deps, visit, form);
  const { flow, messages } = context;
  const email = (form.values.get("email") ?? "").trim().slice(0, 300);
  if (!hasValidCsrfToken(deps, visit, form))
    return showForm(deps, visit, context, { email, error: "session-expired", status: 403 });
  if (!deps.outbox.isOpen || !takesPasswords(visit.organisation.settings))
    return showForm(deps, visit, context, { email });
  if (!isEmail(email)) return showForm(deps, visit, context, { email, error: "invalid-email", status: 422 });
  const limited = await countMailRequest(deps, visit, emailKey(email));
  if (limited)
    return showForm(deps, visit, context, { email, error: "rate-limited", status: 429, ...limited });
  await sendResetMail(deps, visit, email, { flow, locale: messages.locale });
  const againUri = flowPath(deps, visit, "recovery", flow);
  return show(visit, context, recoverySentPage({ ...context, email, againUri }));
}

/** In the language of the signed-in user, whatever address is typed. */
async function formContext(deps: BrowserDeps, visit: Visit, { values }: Form): Promise<RecoveryContext> {
  const signedIn = await currentSession(deps, visit);
  return loadRecoveryContext(deps, visit, values.get("flow"), signedIn?.user);
}

interface FormState {
  readonly email?: string;
  readonly error?: RecoveryFailure;
  readonly status?: number;
  readonly retryAfterSeconds?: number;
}

async function showForm(
  deps: BrowserDeps,
  visit: Visit,
  context: RecoveryContext,
  { status = 200, ...state }: FormState,
): Promise<void> {
  const { flow, organisation, messages } = context;
  const signInUri = flow && flowPath(deps, visit, "authorize", flow);
  if (!takesPasswords(visit.organisation.settings)) {
    const advice = messages.recovery.passwordsOff({ organisation: organisation.name });
    const heading = messages.recovery.passwordsOffHeading;
    return show(visit, context, noMailPage({ ...context, heading, advice, signInUri }));
  }
  if (!deps.outbox.isOpen) {
    const advice = messages.recovery.notSetUp({ organisation: organisation.name });
    return show(visit, context, noMailPage({ ...context, advice, signInUri }));
  }
  const action = orgPath(visit.organisation, "recovery");
  const hidden = formFields(deps, visit, flow);
  const page = recoveryPage({ ...context, ...state, action, hidden, signInUri });
  return show(visit, context, page, { status });
}
