/** POST login: password or passkey. Unknown addresses and wrong passwords get the same response in the same time. */
import type { FastifyInstance } from "fastify";
import { routedConnection } from "../../../../core/domains/routed-sign-in.ts";
import { takesPasswords } from "../../../../core/organisations/sign-in-methods.ts";
import { directSource } from "../../../../core/rate-limits/guess-source.ts";
import { RateLimited, rateLimitHeaders } from "../../../../core/rate-limits/rate-limits.ts";
import { checkPassword, MAX_PASSWORD_INPUT } from "../../../../core/users/check-password.ts";
import { isEmail } from "../../../../core/users/user.ts";
import { type PageForm, parsedForm } from "../../../../http/form-body.ts";
import { addressOf } from "../../../../http/listeners/client-address.ts";
import { retryAfterFullQueue } from "../../../../page-kit/full-queue.ts";
import {
  browserRoute,
  continueFlow,
  flowPath,
  hasValidCsrfToken,
  type PasswordDeps,
  pageFormOptions,
  redirectTo,
  type Visit,
} from "../browser.ts";
import { withEmail } from "../flow.ts";
import { type CurrentFlow, readSealedFlow } from "../take-step.ts";
import type { LoginFailure } from "./login.page.ts";
import { type OwnFactorsDeps, ownFactors } from "./own-factors.ts";
import { signInWithPasskey } from "./passkey-sign-in.ts";
import { continueWithPassword } from "./password-session.ts";
import { asksEmailFirst, type LoginState, showLogin } from "./show-login.ts";

type LoginDeps = PasswordDeps & OwnFactorsDeps;

export function loginRoute(app: FastifyInstance, deps: LoginDeps): void {
  app.post("/oauth/:org/login", pageFormOptions, browserRoute(deps, login));
}

async function login(deps: LoginDeps, visit: Visit): Promise<void> {
  const form = parsedForm(visit.request);
  const current = await readSealedFlow(deps, visit, form.values.get("flow"));
  if (!current) return;
  const { flow, request } = current;
  const email = (form.values.get("email") ?? "").slice(0, MAX_PASSWORD_INPUT);
  const hasPassword = form.values.has("password");
  const state: LoginState = { flow, request, email, hasPassword };
  if (!hasValidCsrfToken(deps, visit, form))
    return showLogin(deps, visit, { ...state, error: "session-expired", status: 403 });
  if (!hasPassword && !form.values.get("passkey") && (await asksEmailFirst(deps, visit.organisation)))
    return identify(deps, visit, current, email.trim());
  try {
    if (form.values.get("passkey")) return await loginWithPasskey(deps, visit, current, { form, state });
    const typed = { email, password: form.values.get("password") ?? "" };
    const failure = await loginWithPassword(deps, visit, current, typed);
    if (failure) await showLogin(deps, visit, { ...state, error: failure, status: 401 });
  } catch (error) {
    if (error instanceof RateLimited) {
      const { retryAfterSeconds } = error;
      visit.reply.headers(rateLimitHeaders(error));
      return showLogin(deps, visit, { ...state, error: "rate-limited", status: 429, retryAfterSeconds });
    }
    const retryAfterSeconds = retryAfterFullQueue(deps, visit, error);
    return showLogin(deps, visit, { ...state, error: "busy", status: 503, retryAfterSeconds });
  }
}

/** The first page was sent. Every address that no domain of the organisation sends elsewhere gets the same second one. */
async function identify(deps: LoginDeps, visit: Visit, current: CurrentFlow, email: string): Promise<void> {
  const { flow, request } = current;
  if (!isEmail(email))
    return showLogin(deps, visit, { flow, request, email, error: "invalid-email", status: 422 });
  const known = withEmail(flow, email);
  const connectionId = await routedConnection(deps.database.query, visit.organisation.id, email);
  const next = connectionId === undefined ? "authorize" : `connections/${connectionId}/start`;
  await redirectTo(visit, flowPath(deps, visit, next, known));
}

async function loginWithPasskey(
  deps: LoginDeps,
  visit: Visit,
  current: CurrentFlow,
  { form, state }: { readonly form: PageForm; readonly state: LoginState },
): Promise<void> {
  const failure = await signInWithPasskey(deps, visit, form.values.get("passkey") ?? "", current);
  return failure
    ? showLogin(deps, visit, { ...state, ...failure, status: 401 })
    : continueFlow(deps, visit, current.flow);
}

/** @returns undefined when the response has been sent */
async function loginWithPassword(
  deps: LoginDeps,
  visit: Visit,
  current: CurrentFlow,
  input: { email: string; password: string },
): Promise<LoginFailure | undefined> {
  const { id: orgId } = visit.organisation;
  // The password is not looked at, nor whether there is an account.
  const own = await ownFactors(deps, visit, current, input.email);
  if (own.kind === "closed") {
    const there = withEmail(current.flow, input.email.trim());
    await redirectTo(visit, flowPath(deps, visit, `connections/${own.connectionId}/start`, there));
    return undefined;
  }
  const source = directSource(addressOf(visit.request));
  const applicationId = current.request.application?.id;
  const purpose = !takesPasswords(visit.organisation.settings)
    ? "closed"
    : own.kind === "linking"
      ? "linking"
      : "sign-in";
  const outcome = await checkPassword(deps, { orgId, ...input, source, applicationId, purpose });
  if (typeof outcome === "string") return outcome;
  await continueWithPassword(deps, visit, current, outcome);
  return undefined;
}
