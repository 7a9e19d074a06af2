/** account/password: a new one for the present one. This browser stays signed in, under another session; nothing else does. */

import type { FastifyInstance } from "fastify";
import { PasswordQueueFull } from "../../../core/passwords/password-hasher.ts";
import { PASSWORD_MAX_LENGTH } from "../../../core/passwords/password-policy.ts";
import { RateLimited } from "../../../core/rate-limits/rate-limits.ts";
import type { SignedIn } from "../../../core/sessions/session.ts";
import { changeOwnPassword } from "../../../core/users/change-password.ts";
import { findPasswordChangedAt } from "../../../core/users/users.store.ts";
import { queryOf } from "../../../http/form-body.ts";
import { goTo, show, type Visit } from "../../../page-kit/page.ts";
import { acceptAccountForm, askForIdentity } from "../account-form.ts";
import {
  type AccountDeps,
  accountFrame,
  accountPath,
  accountRoute,
  originOf,
  requireRecentChanger,
} from "../account-page.ts";
import { tellWait } from "../wait.ts";
import { type PasswordFailure, passwordPage } from "./password.page.ts";

const PASSWORD = "password";
/** Of an activity that was somebody else's. */
const NOT_ME = "not-me";

export function passwordRoute(app: FastifyInstance, deps: AccountDeps): void {
  accountRoute(app, deps, "/oauth/:org/account/password", {
    get: async (visit) => {
      const signedIn = await requireRecentChanger(deps, visit, passwordPath(visit));
      await showForm(deps, visit, signedIn);
    },
    post: (visit) => change(deps, visit),
  });
}

const isAlarmed = ({ request }: Visit): boolean => queryOf(request).values.get("because") === NOT_ME;

export const notMePath = ({ organisation }: Pick<Visit, "organisation">): string =>
  accountPath(organisation, `${PASSWORD}?because=${NOT_ME}`);

const passwordPath = (visit: Visit): string =>
  isAlarmed(visit) ? notMePath(visit) : accountPath(visit.organisation, PASSWORD);

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
    leastLength: organisation.settings.passwordMinLength,
    mostLength: PASSWORD_MAX_LENGTH,
    isAlarmed: isAlarmed(visit),
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
  const again = (failure: PasswordFailure, status: number) =>
    showForm(deps, visit, signedIn, failure, status);
  try {
    const changed = await changeOwnPassword(deps, {
      organisation: visit.organisation,
      signedIn,
      present: values.get("present") ?? "",
      password: values.get("password") ?? "",
      origin: originOf(visit, signedIn.user),
    });
    if (typeof changed === "object") {
      deps.browserSession.writeSession(visit, changed.token);
      return goTo(visit, `${accountPath(visit.organisation, "security")}?done=passwordChanged`);
    }
    if (changed === "wrong-password" || changed === "same-password") return again({ kind: changed }, 400);
    return again({ kind: "refused", fault: changed }, 400);
  } catch (error) {
    if (error instanceof RateLimited) {
      tellWait(visit, error);
      return again({ kind: "limited", waitSeconds: error.retryAfterSeconds }, 429);
    }
    if (!(error instanceof PasswordQueueFull)) throw error;
    visit.reply.header("retry-after", String(error.retryAfterSeconds));
    return again({ kind: "busy", waitSeconds: error.retryAfterSeconds }, 503);
  }
}
