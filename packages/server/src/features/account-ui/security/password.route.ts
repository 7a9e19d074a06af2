/** account/password: changes the password. Ends every session except this browser's, which gets a new one. */

import type { FastifyInstance } from "fastify";
import { PasswordQueueFull } from "../../../core/passwords/password-hasher.ts";
import { PASSWORD_MAX_LENGTH } from "../../../core/passwords/password-policy.ts";
import { RateLimited } from "../../../core/rate-limits/rate-limits.ts";
import type { SignedIn } from "../../../core/sessions/session.ts";
import { findPasswordChangedAt } from "../../../core/users/account.store.ts";
import { changeOwnPassword } from "../../../core/users/change-password.ts";
import { parseQuery } from "../../../http/form-body.ts";
import { redirectTo, show, type Visit } from "../../../page-kit/page.ts";
import { acceptAccountForm, askForIdentity } from "../account-form.ts";
import {
  type AccountDeps,
  accountFrame,
  accountPath,
  accountRoute,
  requestOrigin,
  requireRecentSignIn,
  setRetryAfter,
} from "../account-page.ts";
import { type PasswordFailure, passwordPage } from "./password.page.ts";

const PASSWORD = "password";
/** Reason: activity the user doesn't recognise. */
const NOT_ME = "not-me";

export function passwordRoute(app: FastifyInstance, deps: AccountDeps): void {
  accountRoute(app, deps, "/oauth/:org/account/password", {
    get: async (visit) => {
      const signedIn = await requireRecentSignIn(deps, visit, passwordPath(visit));
      await showForm(deps, visit, signedIn);
    },
    post: (visit) => change(deps, visit),
  });
}

const reportsIntrusion = ({ request }: Visit): boolean =>
  parseQuery(request).values.get("because") === NOT_ME;

export const notMePath = ({ organisation }: Pick<Visit, "organisation">): string =>
  accountPath(organisation, `${PASSWORD}?because=${NOT_ME}`);

const passwordPath = (visit: Visit): string =>
  reportsIntrusion(visit) ? notMePath(visit) : accountPath(visit.organisation, PASSWORD);

async function showForm(
  deps: AccountDeps,
  visit: Visit,
  { user }: SignedIn,
  failure?: PasswordFailure,
  status = 200,
): Promise<void> {
  const { organisation } = visit;
  const frame = accountFrame(visit, user, "security");
  const page = passwordPage({
    ...frame,
    csrf: deps.browserSession.formBinding(visit).csrf,
    action: accountPath(organisation, PASSWORD),
    backUri: accountPath(organisation, "security"),
    hasPassword: (await findPasswordChangedAt(deps.database.query, user)) !== null,
    minLength: organisation.settings.passwordMinLength,
    maxLength: PASSWORD_MAX_LENGTH,
    reportsIntrusion: reportsIntrusion(visit),
    recoveryUri: `/oauth/${organisation.id}/recovery`,
    failure,
  });
  return show(visit, frame, page, status);
}

async function change(deps: AccountDeps, visit: Visit): Promise<void> {
  const secrets = ["present", "password"];
  const form = await acceptAccountForm(deps, visit, passwordPath(visit), { secrets });
  if (form.outcome === "reauthenticate") return askForIdentity(deps, visit, form, { secrets });
  const { signedIn, values } = form;
  if (form.outcome === "rejected")
    return showForm(deps, visit, signedIn, form.refusal.failure, form.refusal.status);
  const rerender = (failure: PasswordFailure, status: number) =>
    showForm(deps, visit, signedIn, failure, status);
  try {
    const changed = await changeOwnPassword(deps, {
      organisation: visit.organisation,
      signedIn,
      present: values.get("present") ?? "",
      password: values.get("password") ?? "",
      origin: requestOrigin(visit, signedIn.user),
    });
    if (typeof changed === "object") {
      deps.browserSession.writeSession(visit, changed.token);
      return redirectTo(visit, `${accountPath(visit.organisation, "security")}?done=passwordChanged`);
    }
    if (changed === "wrong-password" || changed === "same-password") return rerender({ kind: changed }, 400);
    return rerender({ kind: "refused", fault: changed }, 400);
  } catch (error) {
    if (error instanceof RateLimited) {
      setRetryAfter(visit, error);
      return rerender({ kind: "limited", waitSeconds: error.retryAfterSeconds }, 429);
    }
    if (!(error instanceof PasswordQueueFull)) throw error;
    visit.reply.header("retry-after", String(error.retryAfterSeconds));
    return rerender({ kind: "busy", waitSeconds: error.retryAfterSeconds }, 503);
  }
}
