/** GET and POST sign-up: an address, and one email to it. Answer and work are the same for every address (connections.md §6). */
import type { Form } from "@signet/protocol/form";
import type { FastifyInstance } from "fastify";
import { hasRoutedDomain } from "../../../core/domains/routed-sign-in.ts";
import { requestSignUp } from "../../../core/sign-ups/request-sign-up.ts";
import { emailKey, isEmail } from "../../../core/users/user.ts";
import { parsedForm, parseQuery } from "../../../http/form-body.ts";
import { addressOf } from "../../../http/listeners/client-address.ts";
import {
  type BrowserDeps,
  browserRoute,
  flowPath,
  hasValidCsrfToken,
  orgPath,
  pageFormOptions,
  redirectTo,
  show,
  type Visit,
} from "../authorize/browser.ts";
import { withEmail } from "../authorize/flow.ts";
import { countMailRequest } from "../recovery/link-mail.ts";
import { noMailPage } from "../recovery/recovery.page.ts";
import { formFields, loadRecoveryContext, type RecoveryContext } from "../recovery/recovery-context.ts";
import { type SignUpFailure, signUpPage, signUpSentPage } from "./sign-up.page.ts";
import { accountFlow, holderOf, requireSignUp, withoutCreate } from "./sign-up-flow.ts";

export function signUpRoute(app: FastifyInstance, deps: BrowserDeps): void {
  app.get("/oauth/:org/sign-up", browserRoute(deps, showSignUp));
  app.post("/oauth/:org/sign-up", pageFormOptions, browserRoute(deps, receiveAddress));
}

async function showSignUp(deps: BrowserDeps, visit: Visit): Promise<void> {
  requireSignUp(visit.organisation);
  const context = await formContext(deps, visit, parseQuery(visit.request));
  return showForm(deps, visit, context, { email: context.loginHint });
}

async function receiveAddress(deps: BrowserDeps, visit: Visit): Promise<void> {
  requireSignUp(visit.organisation);
  const form = parsedForm(visit.request);
  const context = await formContext(deps, visit, form);
  const { flow, messages } = context;
  const email = (form.values.get("email") ?? "").trim().slice(0, 300);
  if (!hasValidCsrfToken(deps, visit, form))
    return showForm(deps, visit, context, { email, error: "session-expired", status: 403 });
  if (!deps.outbox.isOpen) return showForm(deps, visit, context, { email });
  if (!isEmail(email)) return showForm(deps, visit, context, { email, error: "invalid-email", status: 422 });
  const limited = await countMailRequest(deps, visit, `sign-up|${emailKey(email)}`);
  if (limited)
    return showForm(deps, visit, context, { email, error: "rate-limited", status: 429, ...limited });
  const { organisation, request } = visit;
  const upstream = await requestSignUp(deps, {
    ...{ organisation, email, locale: messages.locale, address: addressOf(request) },
    holderHash: holderOf(deps, visit),
    flow: flow && deps.flows.seal(flow),
  });
  if (upstream) {
    const there = withEmail(flow ?? accountFlow(deps, visit), email);
    return redirectTo(visit, flowPath(deps, visit, `connections/${upstream.connectionId}/start`, there));
  }
  const againUri = flowPath(deps, visit, "sign-up", flow);
  return show(visit, context, signUpSentPage({ ...context, email, againUri }));
}

interface SignUpContext extends RecoveryContext {
  readonly loginHint: string | undefined;
}

async function formContext(deps: BrowserDeps, visit: Visit, { values }: Form): Promise<SignUpContext> {
  const context = await loadRecoveryContext(deps, visit, values.get("flow"), undefined, "sign-up");
  const [, loginHint] = context.flow?.parameters.find(([name]) => name === "login_hint") ?? [];
  return { ...context, loginHint };
}

interface FormState {
  readonly email?: string | undefined;
  readonly error?: SignUpFailure;
  readonly status?: number;
  readonly retryAfterSeconds?: number;
}

async function showForm(
  deps: BrowserDeps,
  visit: Visit,
  context: SignUpContext,
  { status = 200, ...state }: FormState,
): Promise<void> {
  const { flow, organisation, messages } = context;
  const signInUri = flow
    ? flowPath(deps, visit, "authorize", withoutCreate(flow))
    : orgPath(visit.organisation, "account");
  if (!deps.outbox.isOpen) {
    const advice = messages.signUp.notSetUp({ organisation: organisation.name });
    return show(visit, context, noMailPage({ ...context, advice, signInUri }));
  }
  const page = signUpPage({
    ...{ ...context, ...state, signInUri },
    mode: visit.organisation.settings.signUp.mode,
    action: orgPath(visit.organisation, "sign-up"),
    hidden: formFields(deps, visit, flow),
  });
  const leadsUpstream = await hasRoutedDomain(deps.database.query, visit.organisation.id);
  return show(visit, context, page, { status, leadsUpstream });
}
