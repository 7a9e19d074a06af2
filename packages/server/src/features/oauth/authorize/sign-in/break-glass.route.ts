/** GET and POST break-glass: the sign-in form past an enforced connection. Everybody but its administrators has a wrong password here. */
import type { FastifyInstance } from "fastify";
import { recordBreakGlassUse } from "../../../../core/break-glass/break-glass-use.ts";
import { directSource } from "../../../../core/rate-limits/guess-source.ts";
import { RateLimited, rateLimitHeaders } from "../../../../core/rate-limits/rate-limits.ts";
import { checkPassword, MAX_PASSWORD_INPUT } from "../../../../core/users/check-password.ts";
import { parsedForm, parseQuery } from "../../../../http/form-body.ts";
import { addressOf } from "../../../../http/listeners/client-address.ts";
import { retryAfterFullQueue } from "../../../../page-kit/full-queue.ts";
import {
  browserRoute,
  continueFlow,
  hasValidCsrfToken,
  openFlow,
  type PasswordDeps,
  pageFormOptions,
  requestOrigin,
  type Visit,
} from "../browser.ts";
import { pageFlow } from "../page-request.ts";
import { type CurrentFlow, readFlow, readSealedFlow } from "../take-step.ts";
import type { LoginFailure } from "./login.page.ts";
import { breakGlassWithPasskey } from "./passkey-sign-in.ts";
import { continueWithPassword } from "./password-session.ts";
import { type LoginState, showLogin } from "./show-login.ts";

export function breakGlassRoutes(app: FastifyInstance, deps: PasswordDeps): void {
  app.get("/oauth/:org/break-glass", browserRoute(deps, showBreakGlass));
  app.post("/oauth/:org/break-glass", pageFormOptions, browserRoute(deps, signIn));
}

/** Without a sign-in that waits it leads to the console. */
async function showBreakGlass(deps: PasswordDeps, visit: Visit): Promise<void> {
  const { id } = visit.organisation;
  const sealed = parseQuery(visit.request).values.get("flow");
  const console = { place: "console", path: `/oauth/manage/${id}` } as const;
  const flow =
    sealed === undefined
      ? pageFlow(id, console, deps.clock(), { prompt: "login" })
      : openFlow(deps, visit, sealed);
  const current = await readFlow(deps, visit, flow);
  if (current) await showForm(deps, visit, current, {});
}

const showForm = (
  deps: PasswordDeps,
  visit: Visit,
  { flow, request }: CurrentFlow,
  state: Partial<LoginState>,
): Promise<void> => showLogin(deps, visit, { flow, request, isBreakGlass: true, ...state });

async function signIn(deps: PasswordDeps, visit: Visit): Promise<void> {
  const form = parsedForm(visit.request);
  const current = await readSealedFlow(deps, visit, form.values.get("flow"));
  if (!current) return;
  const email = (form.values.get("email") ?? "").slice(0, MAX_PASSWORD_INPUT);
  if (!hasValidCsrfToken(deps, visit, form))
    return showForm(deps, visit, current, { email, error: "session-expired", status: 403 });
  try {
    const passkey = form.values.get("passkey") ?? "";
    if (passkey !== "") return await byPasskey(deps, visit, current, passkey);
    const password = form.values.get("password") ?? "";
    const failure = await breakGlass(deps, visit, current, { email, password });
    if (failure) await showForm(deps, visit, current, { email, error: failure, status: 401 });
  } catch (error) {
    if (error instanceof RateLimited) {
      const { retryAfterSeconds } = error;
      visit.reply.headers(rateLimitHeaders(error));
      return showForm(deps, visit, current, { email, error: "rate-limited", status: 429, retryAfterSeconds });
    }
    const retryAfterSeconds = retryAfterFullQueue(deps, visit, error);
    return showForm(deps, visit, current, { email, error: "busy", status: 503, retryAfterSeconds });
  }
}

async function byPasskey(
  deps: PasswordDeps,
  visit: Visit,
  current: CurrentFlow,
  passkey: string,
): Promise<void> {
  const failure = await breakGlassWithPasskey(deps, visit, passkey, current);
  return failure
    ? showForm(deps, visit, current, { ...failure, status: 401 })
    : continueFlow(deps, visit, current.flow);
}

/** @returns undefined when the response has been sent */
async function breakGlass(
  deps: PasswordDeps,
  visit: Visit,
  current: CurrentFlow,
  input: { readonly email: string; readonly password: string },
): Promise<LoginFailure | undefined> {
  const source = directSource(addressOf(visit.request));
  const applicationId = current.request.application?.id;
  const { id: orgId } = visit.organisation;
  const outcome = await checkPassword(deps, {
    ...{ orgId, ...input, source, applicationId, purpose: "break-glass" },
  });
  if (typeof outcome === "string") return outcome;
  await recordBreakGlassUse(deps, outcome.user, requestOrigin(visit, current.request.uiLocales));
  await continueWithPassword(deps, visit, current, outcome);
  return undefined;
}
