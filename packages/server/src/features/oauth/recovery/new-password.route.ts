/**
 * The link to reset a password: GET shows the form, POST sets the new password once. The same form keeps or ends the passkeys
 * and a new authenticator app, so that no reset is left half done. It starts no session: the second factor is still required
 * at the next sign-in.
 */
import type { FastifyInstance } from "fastify";
import { isClosedLink } from "../../../core/actions/actions.ts";
import { completeAction } from "../../../core/actions/complete-action.ts";
import { PASSWORD_MAX_LENGTH, passwordFault } from "../../../core/passwords/password-policy.ts";
import { parsedForm } from "../../../http/form-body.ts";
import { retryAfterFullQueue } from "../../../page-kit/full-queue.ts";
import {
  browserRoute,
  hasValidCsrfToken,
  orgPath,
  type PasswordDeps,
  pageFormOptions,
  requestOrigin,
  show,
  type Visit,
} from "../authorize/browser.ts";
import { loadFactorChoice, readFactorChoice } from "./factor-choice.ts";
import { type OpenLink, openLink, redirectToResult, showBrokenLink, showDone } from "./link.ts";
import { type NewPasswordFailure, newPasswordPage } from "./new-password.page.ts";
import { formFields, loadRecoveryContext, restartFlow } from "./recovery-context.ts";

export function newPasswordRoutes(app: FastifyInstance, deps: PasswordDeps): void {
  app.get("/oauth/:org/recovery/:id", browserRoute(deps, showNewPassword));
  app.post("/oauth/:org/recovery/:id", pageFormOptions, browserRoute(deps, setNewPassword));
  app.get("/oauth/:org/recovery/done", browserRoute(deps, showPasswordChanged));
}

async function showNewPassword(deps: PasswordDeps, visit: Visit): Promise<void> {
  const link = await openResetLink(deps, visit);
  return link ? showForm(deps, visit, link) : showBrokenLink(deps, visit, "ResetPassword");
}

/** Undefined too where the organisation has closed passwords since, or enforces the domain. */
async function openResetLink(deps: PasswordDeps, visit: Visit): Promise<OpenLink | undefined> {
  const link = await openLink(deps, visit, "ResetPassword");
  const isClosed = link && (await isClosedLink(deps.database.query, visit.organisation, link.action));
  return isClosed ? undefined : link;
}

async function setNewPassword(deps: PasswordDeps, visit: Visit): Promise<void> {
  const form = parsedForm(visit.request);
  const link = await openResetLink(deps, visit);
  if (!link) return showBrokenLink(deps, visit, "ResetPassword");
  if (!hasValidCsrfToken(deps, visit, form))
    return showForm(deps, visit, link, { error: "session-expired", status: 403, values: form.values });
  const { named, action, user } = link;
  const password = form.values.get("password") ?? "";
  const fault = await passwordFault(password, {
    minLength: visit.organisation.settings.passwordMinLength,
    about: [user.email, user.firstname, user.surname],
  });
  if (fault) return showForm(deps, visit, link, { error: fault, status: 422, values: form.values });
  const { flow, messages } = await loadRecoveryContext(deps, visit, action.data.flow, user);
  const origin = { ...requestOrigin(visit, undefined), locale: messages.locale };
  try {
    const passwordHash = await deps.passwords.hash(password, visit.organisation.id);
    const factorChoice = await readFactorChoice(deps.database.query, user, form.values);
    if (!(await completeAction(deps, { action, id: named.id, passwordHash, factorChoice, origin })))
      return showBrokenLink(deps, visit, "ResetPassword");
  } catch (error) {
    const retryAfterSeconds = retryAfterFullQueue(deps, visit, error);
    const { values } = form;
    return showForm(deps, visit, link, { error: "busy", status: 503, retryAfterSeconds, values });
  }
  return redirectToResult(deps, visit, "recovery/done", {
    flow: flow && restartFlow(flow, deps.clock()),
    user,
  });
}

interface FormFailure {
  readonly error?: NewPasswordFailure;
  readonly status?: number;
  readonly retryAfterSeconds?: number;
  /** As they were sent: what was ticked stays ticked. */
  readonly values?: ReadonlyMap<string, string>;
}

async function showForm(
  deps: PasswordDeps,
  visit: Visit,
  { named, action, user }: OpenLink,
  failure: FormFailure = {},
): Promise<void> {
  const context = await loadRecoveryContext(deps, visit, action.data.flow, user);
  const { status = 200, values, ...shown } = failure;
  const page = newPasswordPage({
    ...context,
    ...shown,
    action: orgPath(visit.organisation, `recovery/${named.id}`),
    hidden: formFields(deps, visit),
    email: user.email,
    factors: await loadFactorChoice(deps.database.query, user, deps.clock(), values),
    leastLength: visit.organisation.settings.passwordMinLength,
    mostLength: PASSWORD_MAX_LENGTH,
  });
  return show(visit, context, page, { status });
}

const showPasswordChanged = (deps: PasswordDeps, visit: Visit): Promise<void> =>
  showDone(deps, visit, "recovery", orgPath(visit.organisation, "account/security"));
