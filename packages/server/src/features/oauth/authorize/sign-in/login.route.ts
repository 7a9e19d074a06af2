/** POST login: password or passkey. Unknown addresses and wrong passwords get the same response in the same time. */
import type { FastifyInstance } from "fastify";
import { directSource } from "../../../../core/rate-limits/guess-source.ts";
import { RateLimited, rateLimitHeaders } from "../../../../core/rate-limits/rate-limits.ts";
import { recordTrustedBrowserUse } from "../../../../core/second-factors/trusted-browsers/trusted-browsers.store.ts";
import { acrValues, type Session } from "../../../../core/sessions/session.ts";
import { lockIfPasswordUnchanged } from "../../../../core/users/account.store.ts";
import {
  checkPassword,
  MAX_PASSWORD_INPUT,
  type RightPassword,
} from "../../../../core/users/check-password.ts";
import type { User } from "../../../../core/users/user.ts";
import { type PageForm, parsedForm } from "../../../../http/form-body.ts";
import { addressOf } from "../../../../http/listeners/client-address.ts";
import { retryAfterFullQueue } from "../../../../page-kit/full-queue.ts";
import {
  browserRoute,
  continueFlow,
  currentSession,
  hasValidCsrfToken,
  type PasswordDeps,
  pageFormOptions,
  type Visit,
} from "../browser.ts";
import { showSecondFactor } from "../factors/factor-step.ts";
import { factorStep } from "../next-step.ts";
import { browserFactorStatus } from "../sign-in-context.ts";
import { type CurrentFlow, readSealedFlow, refuse, takeStep } from "../take-step.ts";
import type { LoginFailure } from "./login.page.ts";
import { signInWithPasskey } from "./passkey-sign-in.ts";
import { type LoginState, showLogin } from "./show-login.ts";
import { finishSignIn, startBrowserSession } from "./start-session.ts";

export function loginRoute(app: FastifyInstance, deps: PasswordDeps): void {
  app.post("/oauth/:org/login", pageFormOptions, browserRoute(deps, login));
}

async function login(deps: PasswordDeps, visit: Visit): Promise<void> {
  const form = parsedForm(visit.request);
  const current = await readSealedFlow(deps, visit, form.values.get("flow"));
  if (!current) return;
  const { flow, request } = current;
  const email = (form.values.get("email") ?? "").slice(0, MAX_PASSWORD_INPUT);
  const state: LoginState = { flow, request, email };
  if (!hasValidCsrfToken(deps, visit, form))
    return showLogin(deps, visit, { ...state, error: "session-expired", status: 403 });
  try {
    const failure = form.values.get("passkey")
      ? await loginWithPasskey(deps, visit, current, form)
      : await loginWithPassword(deps, visit, current, { email, password: form.values.get("password") ?? "" });
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

/** @returns undefined when the response has been sent */
async function loginWithPasskey(
  deps: PasswordDeps,
  visit: Visit,
  { flow, request }: CurrentFlow,
  form: PageForm,
): Promise<LoginFailure | undefined> {
  const failure = await signInWithPasskey(deps, visit, form.values.get("passkey") ?? "", request);
  if (!failure) await continueFlow(deps, visit, flow);
  return failure;
}

/** Starts the session, unless a second factor is due first. @returns undefined when the response has been sent */
async function loginWithPassword(
  deps: PasswordDeps,
  visit: Visit,
  current: CurrentFlow,
  input: { email: string; password: string },
): Promise<LoginFailure | undefined> {
  const { id: orgId } = visit.organisation;
  const source = directSource(addressOf(visit.request));
  const { flow, request } = current;
  const applicationId = request.application?.id;
  const outcome = await checkPassword(deps, { orgId, ...input, source, applicationId });
  if (typeof outcome === "string") return outcome;
  const { user, passwordChangedAt } = outcome;
  const now = deps.clock();
  const factors = await browserFactorStatus(deps, visit, request, user);
  const signedIn = { session: passwordSession(user, now), user };
  const step = factorStep({ request, now, factors }, signedIn);
  if (step?.kind === "refuse") await refuse(deps, visit, current, step.error);
  else if (step?.kind === "second-factor" || step?.kind === "enrolment")
    await showSecondFactor(deps, visit, { flow, request, step }, passwordChangedAt);
  else if (await startPasswordSession(deps, visit, current, outcome)) {
    const token = deps.secondFactors.trustedBrowsers.read(visit.request, orgId);
    if (factors.isTrusted && token !== undefined)
      await recordTrustedBrowserUse(deps.database.query, user, token, now);
    await continueFlow(deps, visit, flow);
  } else await takeStep(deps, visit, current);
  return undefined;
}

/** @returns false when the password was changed meanwhile */
async function startPasswordSession(
  deps: PasswordDeps,
  visit: Visit,
  { request }: CurrentFlow,
  { user, passwordChangedAt }: RightPassword,
): Promise<boolean> {
  const before = await currentSession(deps, visit);
  const started = await deps.database.transaction(async (tx) => {
    if (!(await lockIfPasswordUnchanged(tx, user, passwordChangedAt))) return undefined;
    return startBrowserSession(deps, tx, visit, { user, ...passwordProof, request, before });
  });
  if (started) finishSignIn(deps, visit, started.token);
  return started !== undefined;
}

const passwordProof = { amr: ["pwd"], acr: acrValues.password };

/** The session that the password alone would start, for the decision about the next step. */
function passwordSession({ id: userId, orgId }: User, now: number): Session {
  const times = { authTime: now, createdAt: now, lastSeenAt: now, expiresAt: now };
  return { orgId, id: "", userId, ...passwordProof, ...times };
}
